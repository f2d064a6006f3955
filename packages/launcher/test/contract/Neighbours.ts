import { type Neighbour, neighbour, type Received, sendJson } from "../fixtures/Servers.ts"

const at = (body: Received, ...path: ReadonlyArray<string>): unknown =>
  path.reduce((value: unknown, key) => Reflect.get(Object(value), key), body)

/** An auth service that answers by the name of the sender. */
export const makeAuthService = neighbour((body, response) => {
  const sender = String(body["sender"])
  switch (sender) {
    case "auth-fails":
      return sendJson(response, 500, { error: "out of order" })
    case "auth-refuses":
      return sendJson(response, 400, { error: "sender is required" })
    case "auth-hangs":
      return
    case "auth-stalls":
      response.writeHead(200, { "content-type": "application/json" })
      return void response.write('{"token":')
    case "auth-closes":
      return void response.destroy()
    case "auth-mumbles":
      return sendJson(response, 200, "<html>")
    case "auth-tokenless":
      return sendJson(response, 200, { sender, expires_in_seconds: 300 })
    case "auth-empty":
      return sendJson(response, 200, { token: "", sender, expires_in_seconds: 300 })
    case "auth-redirects":
      response.writeHead(302, { location: "http://127.0.0.1:9/tokens" })
      return void response.end()
    default:
      return sendJson(response, 200, { token: `token-of-${sender}`, sender, expires_in_seconds: 3_600 })
  }
})

/** How long the control plane may wait for what the service does meanwhile, ms. */
const PATIENCE_MS = 20_000
const LOOK_AGAIN_MS = 5

/** A control plane that answers by the run label. */
export const makeControlPlane = (auth: Neighbour) =>
  neighbour(async (body, response) => {
    const sessionId = at(body, "session", "sessionId")
    const accepted = { runId: sessionId, sessionId, status: "queued", traceId: "0af7651916cd43dd8448eb211c80319c" }
    switch (at(body, "session", "metadata", "runLabel")) {
      case "plane rejects":
        return sendJson(response, 400, {
          statusCode: 400,
          errorCode: "VALIDATION_ERROR",
          message: ["mode must be one of the following values: live, sandbox"],
          error: "Bad Request"
        })
      case "plane knows the session":
        return sendJson(response, 409, { statusCode: 409, errorCode: "SESSION_ALREADY_EXISTS", message: "taken" })
      case "plane fails":
        return sendJson(response, 503, { statusCode: 503, errorCode: "RUNTIME_UNAVAILABLE", message: "down" })
      case "plane limits":
        return sendJson(response, 429, { statusCode: 429, errorCode: "INTERNAL_ERROR", message: "Too Many Requests" })
      case "plane hangs":
        return
      case "plane stalls":
        response.writeHead(202, { "content-type": "application/json" })
        return void response.write("{")
      case "plane closes":
        return void response.destroy()
      case "plane mumbles":
        return sendJson(response, 202, "accepted")
      case "plane answers a list":
        return sendJson(response, 202, [accepted])
      case "plane leaves the run id out":
        return sendJson(response, 202, { ...accepted, runId: undefined })
      case "plane sends an empty run id":
        return sendJson(response, 202, { ...accepted, runId: "" })
      case "plane leaves the status out":
        return sendJson(response, 202, { ...accepted, status: undefined })
      case "plane answers for another session":
        return sendJson(response, 202, { ...accepted, sessionId: "00000000-0000-4000-8000-000000000000" })
      case "plane redirects":
        response.writeHead(307, { location: "/elsewhere" })
        return void response.end()
      case "plane waits for the last token": {
        const until = Date.now() + PATIENCE_MS
        while (auth.requests.at(-1)?.body["sender"] !== "concurrent-last" && Date.now() < until) {
          await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
        }
        return sendJson(response, 202, accepted)
      }
      default:
        return sendJson(response, 202, accepted)
    }
  })
