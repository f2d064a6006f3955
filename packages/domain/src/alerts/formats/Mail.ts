import type * as Schema from "effect/Schema"
import { escapeHtml } from "../../values/VisibleText.ts"
import type { AlertNotice } from "../Firing.ts"
import { factsOf, linkOf, titleOf } from "./AlertText.ts"

/** A mail for a relay that sends what it receives. The subject is one line, so it cannot add headers. */
export const mailBody = (notice: AlertNotice): Schema.Json => {
  const title = titleOf(notice)
  const facts = factsOf(notice)
  const link = linkOf(notice)
  const rows = facts.map(
    ({ name, text }) => `<tr><th align="left">${escapeHtml(name)}</th><td>${escapeHtml(text)}</td></tr>`
  )
  return {
    subject: `[Runplane] ${title}`,
    text: [title, "", ...facts.map(({ name, text }) => `${name}: ${text}`), ...(link === undefined ? [] : ["", link])]
      .join("\n")
      .concat("\n"),
    html: [
      `<p><strong>${escapeHtml(title)}</strong></p>`,
      `<table>${rows.join("")}</table>`,
      ...(link === undefined ? [] : [`<p><a href="${escapeHtml(link)}">Open in Runplane</a></p>`])
    ].join("\n")
  }
}
