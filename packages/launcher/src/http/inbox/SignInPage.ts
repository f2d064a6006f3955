import * as HttpServerResponse from "effect/http/HttpServerResponse"

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}
const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)

const STYLE =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:12vh auto;padding:0 1rem;color-scheme:light dark}" +
  "input,button{font:inherit;width:100%;box-sizing:border-box;padding:.6rem;margin-top:.5rem}"

const page = (title: string, content: string, status: number) =>
  HttpServerResponse.text(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
      `<meta name="robots" content="noindex"><title>${escaped(title)}</title><style>${STYLE}</style>` +
      `<main><h1>${escaped(title)}</h1>${content}</main></html>`,
    { status, contentType: "text/html; charset=utf-8", headers: { "cache-control": "no-store" } }
  )

/** A page with one sentence, and a link where there is something to do. */
export const textPage = (
  title: string,
  text: string,
  status: number,
  link?: { readonly to: string; readonly text: string }
): HttpServerResponse.HttpServerResponse => {
  const shownLink = link === undefined ? "" : `<p><a href="${escaped(link.to)}">${escaped(link.text)}</a></p>`
  return page(title, `<p role="status">${escaped(text)}</p>${shownLink}`, status)
}

/** Sends the key as JSON, which a page of another site cannot, and leads on once the cookie is set. */
const SCRIPT = `
const form = document.querySelector("form"), shown = document.querySelector("[role=alert]")
form.addEventListener("submit", async (event) => {
  event.preventDefault()
  shown.textContent = ""
  const body = JSON.stringify({ key: form.elements.key.value })
  try {
    const answer = await fetch("sign-in", { method: "POST", headers: { "content-type": "application/json" }, body })
    if (answer.ok) location.assign(form.dataset.to)
    else shown.textContent = (await answer.json()).message
  } catch { shown.textContent = "The service does not answer." }
})`

export const TITLE = "Sign in"

/** A sign-in that failed, with a link to another try. */
export const refusedPage = (text: string, status: number, to = "/inbox"): HttpServerResponse.HttpServerResponse =>
  textPage(TITLE, text, status, { to: `sign-in?to=${encodeURIComponent(to)}`, text: "Sign in again" })

/** The form for a service whose people have keys. */
export const keyPage = (to: string): HttpServerResponse.HttpServerResponse =>
  page(
    TITLE,
    `<form data-to="${escaped(to)}"><label for="key">Your key</label>` +
      `<input id="key" name="key" type="password" autocomplete="current-password" required autofocus>` +
      `<button>Sign in</button><p role="alert"></p></form><script>${SCRIPT}</script>`,
    200
  )
