import { webhookEvents } from "../src/control-plane/webhooks/Webhook.ts"
import type { Shape } from "./Shape.ts"

const uuid = { type: "string", format: "uuid" }

const header = (name: string, description: string, example: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
  example
})

const SIGNATURE = "3f1c2a7e108d5a3f0c93d44c4e9d605c7f1c2a7e108d5a3f0c93d44c4e9d605c"
const RUN = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"

/**
 * The tag of what receivers implement. Generators of clients write a file for each tag of the paths, and then one for
 * each tag of the webhooks: a tag of both would leave the second file only.
 */
export const receiversTag: Shape = { name: "Receivers", description: "What the service sends to addresses of yours." }

/** What the service posts to subscribers (docs/reference/webhooks.md#webhook-delivery). */
export const webhooks: Shape = {
  runEvent: {
    post: {
      operationId: "receiveRunEvent",
      summary: "An event in the life of a run",
      description:
        "Posted to the URL of every active subscription that lists the event. At least once: `webhook-id` stays the same over " +
        "all attempts, so a receiver can recognise a repetition. Other answers than 2xx, and none within the time-out, are tried " +
        "again with growing pauses, for about a day.",
      tags: [receiversTag["name"]],
      security: [],
      parameters: [
        header("webhook-id", "Id of the delivery.", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"),
        header("webhook-timestamp", "Time of the attempt, seconds since 1970.", "1782900000"),
        header(
          "webhook-signature",
          "Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` with the secret.",
          "v1,PxwqfhCNWj8Mk9RMTp1gXH8cKn4QjVo/DJPUTE6dYFw="
        ),
        header("X-Proto-Event", "The event; also sent as X-MACP-Event.", "run.completed"),
        header(
          "X-Proto-Signature",
          "Lower-case hex HMAC-SHA256 of the body with the secret; also sent as X-MACP-Signature.",
          SIGNATURE
        )
      ],
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: { $ref: "#/components/schemas/WebhookPayload" },
            examples: {
              failed: {
                summary: "A run failed",
                value: {
                  event: "run.failed",
                  runId: RUN,
                  status: "failed",
                  timestamp: "2026-07-01T10:00:00.000Z",
                  data: { error: "runtime session expired" }
                }
              }
            }
          }
        }
      },
      responses: {
        "2XX": { description: "Delivered; the body is not read." },
        "410": { description: "The subscription is no longer wanted: it becomes inactive." },
        "4XX": { description: "Tried again later; `Retry-After` is honoured." },
        "5XX": { description: "Likewise." }
      }
    }
  }
}

/** What the service posts to the agent that registered a cancel callback (docs/reference/runs.md#cancel). */
export const cancelCallback: Shape = {
  cancelRequested: {
    "{$request.body#/session/metadata/cancelCallback/url}": {
      post: {
        operationId: "receiveCancelRequest",
        summary: "A caller cancels the run",
        description:
          "The receiver cancels the session on the runtime with its own identity. One attempt, with the registered bearer as " +
          "`Authorization` when there is one.",
        tags: [receiversTag["name"]],
        security: [{}],
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: { $ref: "#/components/schemas/CancelRequest" },
              examples: { operator: { value: { runId: RUN, reason: "operator request" } } }
            }
          }
        },
        responses: {
          "2XX": { description: "Accepted; the body is not read." },
          "4XX": { description: "Reported as 502 to the caller that cancels." },
          "5XX": { description: "Likewise." }
        }
      }
    }
  }
}

/** Schemas of what the service sends. */
export const outgoingSchemas: Shape = {
  WebhookPayload: {
    type: "object",
    description: "The body of a delivery",
    properties: {
      event: { type: "string", enum: webhookEvents, description: "What happened" },
      runId: { ...uuid, description: "Id of the run" },
      status: { $ref: "#/components/schemas/RunStatus" },
      timestamp: { type: "string", format: "date-time", description: "When it happened" },
      data: {
        type: "object",
        description: "Of run.failed only",
        properties: { error: { type: "string", description: "Why it failed" } },
        required: ["error"],
        additionalProperties: false
      }
    },
    required: ["event", "runId", "status", "timestamp"],
    additionalProperties: false
  },
  CancelRequest: {
    type: "object",
    description: "The body of a cancel callback",
    properties: {
      runId: { ...uuid, description: "Id of the run" },
      reason: { type: ["string", "null"], description: "Why; null when no reason was given" }
    },
    required: ["runId", "reason"],
    additionalProperties: false
  }
}
