import type { AlertFormat } from "@runplane/domain"

const text = (maxLength: number) => ({ type: "string", minLength: 1, maxLength })
const uri = (maxLength: number) => ({ type: "string", format: "uri", maxLength })
const object = (properties: Readonly<Record<string, object>>, required = Object.keys(properties)) => ({
  type: "object",
  required,
  properties,
  additionalProperties: false
})
const mrkdwn = (maxLength: number) =>
  object({ type: { const: "mrkdwn" }, text: text(maxLength), verbatim: { type: "boolean" } }, ["type", "text"])
const time = { type: "string", format: "date-time" }

/**
 * What the receivers of the formats document of their bodies, as JSON Schema: Slack's blocks and their limits, adaptive
 * cards 1.4, the OpenAPI document of Alertmanager's API v2, PagerDuty's events v2, the payload of Standard Webhooks.
 */
export const RECEIVERS: Readonly<Record<AlertFormat, object>> = {
  generic: object({
    type: { enum: ["alert.fired", "alert.repeated", "alert.resolved", "alert.action_failed"] },
    timestamp: time,
    data: object({ firing: { type: "object" }, link: uri(2_000), failedAction: { type: "object" } }, ["firing"])
  }),
  slack: object({
    text: text(4_000),
    blocks: {
      type: "array",
      minItems: 1,
      maxItems: 50,
      items: {
        oneOf: [
          object({ type: { const: "section" }, text: mrkdwn(3_000) }),
          object({
            type: { const: "section" },
            fields: { type: "array", minItems: 1, maxItems: 10, items: mrkdwn(2_000) }
          }),
          object({
            type: { const: "context" },
            elements: { type: "array", minItems: 1, maxItems: 10, items: mrkdwn(3_000) }
          })
        ]
      }
    }
  }),
  teams: object({
    type: { const: "message" },
    attachments: {
      type: "array",
      minItems: 1,
      maxItems: 1,
      items: object({
        contentType: { const: "application/vnd.microsoft.card.adaptive" },
        content: object(
          {
            $schema: { const: "http://adaptivecards.io/schemas/adaptive-card.json" },
            type: { const: "AdaptiveCard" },
            version: { const: "1.4" },
            body: {
              type: "array",
              minItems: 1,
              items: object({
                type: { const: "RichTextBlock" },
                inlines: {
                  type: "array",
                  minItems: 1,
                  items: object(
                    {
                      type: { const: "TextRun" },
                      text: { type: "string" },
                      weight: { enum: ["Default", "Lighter", "Bolder"] },
                      size: { enum: ["Default", "Small", "Medium", "Large", "ExtraLarge"] },
                      color: { enum: ["Default", "Dark", "Light", "Accent", "Good", "Warning", "Attention"] }
                    },
                    ["type", "text"]
                  )
                }
              })
            },
            actions: {
              type: "array",
              items: object({ type: { const: "Action.OpenUrl" }, title: text(100), url: uri(2_000) })
            }
          },
          ["type", "version", "body"]
        )
      })
    }
  }),
  alertmanager: {
    type: "array",
    minItems: 1,
    items: object(
      {
        labels: {
          type: "object",
          required: ["alertname", "severity", "scenario", "run"],
          propertyNames: { pattern: "^[a-zA-Z_][a-zA-Z0-9_]*$" },
          additionalProperties: text(1_000)
        },
        annotations: { type: "object", additionalProperties: { type: "string", maxLength: 10_000 } },
        startsAt: time,
        endsAt: time,
        generatorURL: uri(2_048)
      },
      ["labels"]
    )
  },
  pagerduty: {
    // https://developer.pagerduty.com/docs/send-alert-event: acknowledge and resolve need no payload.
    if: { properties: { event_action: { const: "trigger" } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { required: ["payload"] },
    ...object(
      {
        routing_key: { type: "string", pattern: "^[A-Za-z0-9]{32}$" },
        event_action: { enum: ["trigger", "acknowledge", "resolve"] },
        dedup_key: text(255),
        payload: object(
          {
            summary: text(1_024),
            source: text(255),
            severity: { enum: ["critical", "error", "warning", "info"] },
            timestamp: time,
            component: { type: "string", maxLength: 255 },
            group: { type: "string", maxLength: 255 },
            class: { type: "string", maxLength: 255 },
            custom_details: { type: "object" }
          },
          ["summary", "source", "severity"]
        ),
        client: text(255),
        client_url: uri(2_048),
        links: { type: "array", items: object({ href: uri(2_048), text: text(255) }, ["href"]) }
      },
      ["routing_key", "event_action", "dedup_key"]
    )
  },
  mail: object({ subject: text(300), text: text(20_000), html: text(40_000) })
}
