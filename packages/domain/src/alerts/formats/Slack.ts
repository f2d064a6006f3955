import type * as Schema from "effect/Schema"
import type { AlertNotice } from "../Firing.ts"
import { factsOf, linkOf, titleOf } from "./AlertText.ts"

/** Fields of one section, as Slack limits them. */
const MAX_FIELDS = 10

/**
 * The message of an incoming webhook, in Block Kit. Texts of others cannot mention people or make links: `&`, `<` and
 * `>` are escaped, and `verbatim` stops the search for links. Slack has no escape for `*`, `_` and `~`, which format a
 * text and nothing else. Slack allows 3,000 characters in a section, 2,000 in a field.
 */
export const slackBody = (notice: AlertNotice): Schema.Json => {
  const title = escaped(titleOf(notice))
  const fields = factsOf(notice).map(({ name, text }) => mrkdwn(`*${name}*\n${escaped(text)}`))
  const link = linkOf(notice)
  return {
    text: title,
    blocks: [
      { type: "section", text: mrkdwn(`*${title}*`) },
      ...sections(fields),
      ...(link === undefined ? [] : [{ type: "context", elements: [mrkdwn(`<${escaped(link)}|Open in Runplane>`)] }])
    ]
  }
}

const mrkdwn = (text: string) => ({ type: "mrkdwn", text, verbatim: true }) as const

const sections = (fields: ReadonlyArray<ReturnType<typeof mrkdwn>>): ReadonlyArray<Schema.Json> =>
  fields.length === 0
    ? []
    : [{ type: "section", fields: fields.slice(0, MAX_FIELDS) }, ...sections(fields.slice(MAX_FIELDS))]

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
