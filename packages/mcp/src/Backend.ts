import type { ControlPlaneClient, LauncherClient, Role } from "@runplane/api"
import { rootCauseOf } from "@runplane/api"
import { shownText } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { Subscriptions } from "./Subscriptions.ts"

/** How an action that stops or starts something is confirmed (docs/reference/mcp.md#confirmation). */
export const confirmModes = ["token", "human", "none"] as const
export type ConfirmMode = (typeof confirmModes)[number]

/** The memory of confirmation tokens: the processes of one service share it. */
export interface Confirmations {
  /** The key of the HMAC. */
  readonly secret: Effect.Effect<Uint8Array, unknown>
  /** Uses up a token; false when it was used before. */
  readonly redeem: (nonce: string, expiresAt: number) => Effect.Effect<boolean, unknown>
}

/** What the tools call: the typed clients of both services, and how the service wants to be used. */
export interface Backend {
  readonly plane: ControlPlaneClient["Service"]
  /** Undefined where the address of the launch service is not known: its tools are not listed then. */
  readonly launcher: LauncherClient["Service"] | undefined
  readonly confirmations: Confirmations
  /** Undefined where the transport has none: on standard input and output. */
  readonly subscriptions: Subscriptions | undefined
  readonly confirm: ConfirmMode
  /** Most bytes of an answer, text and structured content together. */
  readonly maxResultBytes: number
  /** Most calls of one caller at a time. */
  readonly maxConcurrency: number
}

/** The caller of the current request. */
export interface Caller {
  readonly id: string
  readonly role: Role
}

/** The caller of an MCP request; the default has no rights. The transport provides it. */
export const CurrentCaller = Context.Reference<Caller>("runplane/mcp/CurrentCaller", {
  defaultValue: () => ({ id: "", role: "ingest" })
})

/** Name and version of the MCP client, as it states them. */
export const CurrentClient = Context.Reference<string>("runplane/mcp/CurrentClient", { defaultValue: () => "" })

/** The header by which the services know that an MCP client acts: `mcp <name>/<version>`. */
export const VIA_HEADER = "x-runplane-via"

/** The form of the answers of `GET /runs/:id/decision/why`; JSON unless a call provides another one. */
export const AcceptedForm = Context.Reference<string | undefined>("runplane/mcp/AcceptedForm", {
  defaultValue: () => undefined
})

const MAX_CLIENT_LENGTH = 120

/** The client of a service, whose requests name the MCP client that they are made for. */
export const withVia = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.mapRequestEffect(
    client,
    Effect.fnUntraced(function* (request) {
      const name = (yield* CurrentClient).replace(/[^\x21-\x7e]+/g, "-").slice(0, MAX_CLIENT_LENGTH)
      const accept = yield* AcceptedForm
      return HttpClientRequest.setHeaders(request, {
        [VIA_HEADER]: `mcp ${name === "" ? "unknown" : name}`,
        ...(accept !== undefined && { accept })
      })
    })
  )

/** Why a call of a tool failed, for the caller. */
interface Failed {
  readonly code: string
  readonly message: string
}

/**
 * The text of an error: its code, and its message under `said`. The message of a service can quote what others wrote,
 * such as the proposals of a run.
 */
export const failureText = (error: unknown): string => {
  const { code, message } = failureOf(error)
  const shown = shownText(message, { lines: true })
  return `${code}: ${JSON.stringify({ said: shown.length <= MAX_MESSAGE ? shown : `${shown.slice(0, MAX_MESSAGE)}...` })}`
}

const MAX_MESSAGE = 800

/** The error of a service, or of the way to it. */
const failureOf = (error: unknown): Failed => {
  if (typeof error === "object" && error !== null && "errorCode" in error && "message" in error) {
    return { code: String(error.errorCode), message: String(error.message) }
  }
  if (HttpClientError.isHttpClientError(error) && error.response !== undefined) {
    const { status } = error.response
    return { code: `HTTP_${status}`, message: `the service answers this with the status ${status}` }
  }
  const { code, message } = rootCauseOf(error)
  return { code: code ?? "FAILED", message }
}
