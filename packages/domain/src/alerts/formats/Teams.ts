import type * as Schema from "effect/Schema"
import type { AlertNotice } from "../Firing.ts"
import type { AlertSeverity } from "../Rule.ts"
import { factsOf, linkOf, titleOf } from "./AlertText.ts"

/**
 * A message with one adaptive card, for a webhook of Teams, which takes 28 KB. Texts are runs of a RichTextBlock, whose
 * text is never markup.
 */
export const teamsBody = (notice: AlertNotice): Schema.Json => {
  const { event, firing } = notice
  const color = event === "alert.resolved" ? "Good" : COLORS[firing.severity]
  const link = linkOf(notice)
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          body: [
            line({ text: titleOf(notice), weight: "Bolder", size: "Medium", color }),
            ...factsOf(notice).map(({ name, text }) => line({ text: `${name}: `, weight: "Bolder" }, { text }))
          ],
          ...(link !== undefined && { actions: [{ type: "Action.OpenUrl", title: "Open in Runplane", url: link }] })
        }
      }
    ]
  }
}

const COLORS: Readonly<Record<AlertSeverity, string>> = { info: "Accent", warning: "Warning", critical: "Attention" }

const line = (...runs: ReadonlyArray<{ readonly text: string } & Readonly<Record<string, string>>>): Schema.Json => ({
  type: "RichTextBlock",
  inlines: runs.map((run) => ({ type: "TextRun", ...run }))
})
