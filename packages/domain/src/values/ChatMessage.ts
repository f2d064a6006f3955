import type * as Schema from "effect/Schema"
import { wholeStart } from "./Graphemes.ts"
import { withoutInvisible } from "./VisibleText.ts"

/** Characters of a link; a longer one is left out, because a part of it leads elsewhere. */
const MAX_LINK = 2_000
/** Fields of one section, as Slack limits them. */
const MAX_FIELDS = 10

/** A line of a message: a fixed name, and a text that an agent may have written. */
export interface ChatFact {
  readonly name: string
  readonly text: string
}

/** What a message of an incoming webhook says. Its texts are on one line each, and bounded. */
export interface ChatMessage {
  readonly title: string
  readonly color: "Accent" | "Good" | "Warning" | "Attention"
  readonly facts: ReadonlyArray<ChatFact>
  readonly link: string | undefined
}

/** The text on one line, of at most so many characters: control characters and direction marks become spaces. */
export const lineText = (text: string, most: number): string => {
  const start = withoutInvisible(wholeStart(text, most)).toWellFormed()
  return start.length < text.length ? `${start.slice(0, most - 1).toWellFormed()}…` : start
}

/** A link as an RFC 3986 URI, where it is an http or https URL of a usual length. */
export const safeLink = (link: string | undefined): string | undefined => {
  if (link === undefined || link.length > MAX_LINK || !URL.canParse(link)) return undefined
  const { hash, href, origin, protocol } = new URL(link)
  if ((protocol !== "https:" && protocol !== "http:") || !href.startsWith(origin)) return undefined
  const path = href.slice(origin.length, href.length - hash.length)
  const escaped = hash === "" ? escapedUri(path) : `${escapedUri(path)}#${escapedUri(hash.slice(1))}`
  return origin.length + escaped.length > MAX_LINK ? undefined : origin + escaped
}

/** What URLs may contain and URIs may not. */
const escapedUri = (text: string): string =>
  text.replace(/[^\w\-.~:/?@!$&'()*+,;=%]|%(?![\dA-Fa-f]{2})/g, (letter) => encodeURIComponent(letter))

/**
 * The body for an incoming webhook of Slack, in Block Kit. Texts of others cannot mention people or make links: `&`,
 * `<` and `>` are escaped, and `verbatim` stops the search for links. Slack has no escape for `*`, `_` and `~`, which
 * format a text and nothing else. Slack allows 3,000 characters in a section, 2,000 in a field.
 */
export const slackMessage = ({ facts, link, title }: ChatMessage): Schema.Json => {
  const text = escaped(title)
  const fields = facts.map((fact) => mrkdwn(`*${fact.name}*\n${escaped(fact.text)}`))
  return {
    text,
    blocks: [
      { type: "section", text: mrkdwn(`*${text}*`) },
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

/**
 * The body for a webhook of Teams, which takes 28 KB: a message with one adaptive card. Texts are runs of a
 * RichTextBlock, whose text is never markup.
 */
export const teamsMessage = ({ color, facts, link, title }: ChatMessage): Schema.Json => ({
  type: "message",
  attachments: [
    {
      contentType: "application/vnd.microsoft.card.adaptive",
      content: {
        $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
        type: "AdaptiveCard",
        version: "1.4",
        body: [
          line({ text: title, weight: "Bolder", size: "Medium", color }),
          ...facts.map(({ name, text }) => line({ text: `${name}: `, weight: "Bolder" }, { text }))
        ],
        ...(link !== undefined && { actions: [{ type: "Action.OpenUrl", title: "Open in Runplane", url: link }] })
      }
    }
  ]
})

const line = (...runs: ReadonlyArray<{ readonly text: string } & Readonly<Record<string, string>>>): Schema.Json => ({
  type: "RichTextBlock",
  inlines: runs.map((run) => ({ type: "TextRun", ...run }))
})
