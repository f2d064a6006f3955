import { createHash } from "node:crypto"
import { escapeHtml } from "@runplane/domain"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { ConsoleState } from "./ConsoleFiles.ts"

/** Seconds until the page of a build reloads itself, and until other clients should retry. */
const RETRY_AFTER = "2"

const STYLE =
  "html{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}" +
  "main{max-width:36rem;margin:20vh auto;padding:0 1.5rem}h1{font-size:1.25rem}p{overflow-wrap:anywhere}"

/** The policy allows this style by its hash. */
const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64")
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** What the page says, and whether it is worth a retry. */
const contentOf = (state: Exclude<ConsoleState, { readonly _tag: "Built" }>) => {
  switch (state._tag) {
    case "Building":
      return {
        title: "The console is being built",
        lines: [`The build is ${state.step}.`, "This page reloads itself. The services and their API already run."],
        retries: true
      }
    case "Failed":
      return {
        title: "The console could not be built",
        lines: [state.reason, "The services and their API run. The next npm start builds the console again."],
        retries: false
      }
    case "Absent":
      return { title: "The console is missing", lines: ["Its folder has no files."], retries: false }
  }
}

/** The answer of each address of a console that has no files yet. */
export const unbuiltAnswer = (
  state: Exclude<ConsoleState, { readonly _tag: "Built" }>,
  safety: Readonly<Record<string, string>>
) => {
  const { lines, retries, title } = contentOf(state)
  const page = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    ...(retries ? [`<meta http-equiv="refresh" content="${RETRY_AFTER}">`] : []),
    `<title>${title}</title><style>${STYLE}</style></head>`,
    `<body><main><h1>${title}</h1>${lines.map((line) => `<p>${escapeHtml(line)}</p>`).join("")}</main></body></html>`
  ].join("\n")
  return HttpServerResponse.text(page, {
    status: 503,
    contentType: "text/html; charset=utf-8",
    headers: {
      ...safety,
      "content-security-policy": POLICY,
      "cache-control": "no-store",
      ...(retries && { "retry-after": RETRY_AFTER })
    }
  })
}
