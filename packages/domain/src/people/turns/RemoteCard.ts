import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const optional = Schema.optionalKey

/** What of an agent card is read. */
export const RemoteCard = Schema.Struct({
  name: optional(Schema.String),
  supportedInterfaces: optional(
    Schema.Array(
      Schema.Struct({
        url: Schema.String,
        protocolBinding: optional(Schema.String),
        protocolVersion: optional(Schema.String),
        tenant: optional(Schema.String)
      })
    )
  ),
  capabilities: optional(
    Schema.Struct({ streaming: optional(Schema.Boolean), pushNotifications: optional(Schema.Boolean) })
  ),
  signatures: optional(
    Schema.Array(
      Schema.Struct({ protected: Schema.String, signature: Schema.String, header: optional(Schema.JsonObject) })
    )
  ),
  // Of cards before 1.0, for the text of a refusal.
  protocolVersion: optional(Schema.String),
  preferredTransport: optional(Schema.String)
})
export type RemoteCard = typeof RemoteCard.Type

/** How an agent is called. */
export const RemoteInterface = Schema.Struct({
  /** Without a slash at the end. */
  url: Schema.String,
  binding: Schema.Literals(["JSONRPC", "HTTP+JSON"]),
  streaming: Schema.Boolean,
  /** Whether it sends a notice when a task has changed. */
  push: optional(Schema.Boolean),
  tenant: optional(Schema.String)
})
export type RemoteInterface = typeof RemoteInterface.Type

const VERSION = /^1\.0(\.\d+)?$/
const BINDINGS = ["JSONRPC", "HTTP+JSON"] as const

/** Characters of a text of a card in an error. */
const MAX_SHOWN = 200
const shown = (text: string): string => text.slice(0, MAX_SHOWN).replaceAll(/[^\x20-\x7e]/g, "?")

/**
 * The first interface of a card that can be called: JSON-RPC or HTTP+JSON of version 1.0, at the origin of the card.
 * The failure says what the card offers.
 */
export const interfaceOf = (card: RemoteCard, entrypoint: string): Result.Result<RemoteInterface, string> => {
  const { capabilities, supportedInterfaces = [] } = card
  const { origin } = new URL(entrypoint)
  let foreign: string | undefined
  for (const { protocolBinding, protocolVersion = "", tenant = "", url } of supportedInterfaces) {
    const binding = BINDINGS.find((one) => one === protocolBinding)
    if (binding === undefined || !VERSION.test(protocolVersion)) continue
    if (!URL.canParse(url)) return Result.fail(`the address of its interface is not a URL: ${shown(url)}`)
    const address = new URL(url)
    if (address.origin !== origin || address.username !== "" || address.password !== "") {
      foreign ??= address.origin
      continue
    }
    return Result.succeed({
      url: `${address.origin}${address.pathname}`.replace(/\/+$/, ""),
      binding,
      streaming: capabilities?.streaming === true,
      ...(capabilities?.pushNotifications === true && { push: true }),
      ...(tenant !== "" && { tenant })
    })
  }
  return Result.fail(
    foreign === undefined
      ? `it offers ${offered(card)}; JSONRPC or HTTP+JSON with protocol version 1.0 is needed`
      : `its interface has the origin ${shown(foreign)}, and the card ${origin}: both must be the same`
  )
}

const offered = ({ preferredTransport = "JSONRPC", protocolVersion, supportedInterfaces = [] }: RemoteCard): string => {
  const offers = supportedInterfaces.map(
    (one) => `${one.protocolBinding ?? "no binding"} ${one.protocolVersion ?? "without a version"}`
  )
  if (offers.length > 0) return shown(offers.join(", "))
  return protocolVersion === undefined ? "no interface" : shown(`${preferredTransport} ${protocolVersion}`)
}
