import { mapValues, type Shape } from "./Shape.ts"

/** Headers of answers that operations share (docs/reference/http.md#request-ids, docs/reference/http.md#rate-limit). */
export const headers = {
  RequestId: {
    description: "The id of the request: as the caller gave it, else a new UUID. Logs and audit entries name it.",
    schema: { type: "string" },
    example: "7f4df7c2-9a0e-4c43-8bb5-02f1b7c6b6f3"
  },
  RateLimitLimit: {
    description: "Requests that a client may make in one window.",
    schema: { type: "integer" },
    example: 100
  },
  RateLimitRemaining: {
    description: "Requests that are left in this window.",
    schema: { type: "integer" },
    example: 87
  },
  RateLimitReset: { description: "Seconds until the window ends.", schema: { type: "integer" }, example: 42 },
  RateLimitCounts: {
    description: "What is counted: which requests, of whom, in which window, by this process or by all.",
    schema: { type: "string" },
    example: "requests of team, 60 s, this process"
  },
  RetryAfter: {
    description: "Seconds until requests are answered again.",
    schema: { type: "integer" },
    example: 42
  }
} as const

const refer = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` })

const always = { "X-Request-Id": refer("RequestId") }
const counted = {
  ...always,
  "X-RateLimit-Limit": refer("RateLimitLimit"),
  "X-RateLimit-Remaining": refer("RateLimitRemaining"),
  "X-RateLimit-Reset": refer("RateLimitReset"),
  "X-RateLimit-Counts": refer("RateLimitCounts")
}

export interface AnswerKind {
  /** Whether it is the answer to a request that was counted and let through: those carry the state of the budget. */
  readonly counted: boolean
  /** Whether it may say when to try again. */
  readonly retry?: boolean
}
export const answerHeaders = (kind: AnswerKind): Shape => ({
  ...(kind.counted ? counted : always),
  ...(kind.retry === true ? { "Retry-After": refer("RetryAfter") } : {})
})

/** Parameters that every operation takes. */
export const parameters = {
  RequestId: {
    name: "X-Request-Id",
    in: "header",
    required: false,
    description:
      "An id of the caller for this request: 1 to 128 visible ASCII characters. In place of another text it gets a new id.",
    schema: { type: "string", examples: ["7f4df7c2-9a0e-4c43-8bb5-02f1b7c6b6f3"] }
  }
} as const

export const sharedParameters = Object.values(
  mapValues(parameters, (_parameter, name) => ({ $ref: `#/components/parameters/${name}` }))
)
