/** The reason phrases that errors in the form of the peer's HTTP framework carry as `error`. */
export const reasonPhrases = {
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  503: "Service Unavailable"
} as const
