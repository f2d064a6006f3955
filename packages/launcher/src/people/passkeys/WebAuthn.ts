import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** The page in which a passkey is used. */
export interface PasskeyPage {
  readonly origin: string
  /** Its host: a passkey is made for one. */
  readonly rpId: string
}

/** Why a passkey is not enrolled, or proves nothing. */
export class PasskeyRefused extends Data.TaggedError("PasskeyRefused")<{
  readonly why:
    | { readonly _tag: "not-fresh" }
    | { readonly _tag: "too-many"; readonly most: number }
    | { readonly _tag: "known" }
    /** None of the person was enrolled before the item opened. */
    | { readonly _tag: "missing" }
    | { readonly _tag: "refused"; readonly reason: string }
}> {}

export const refuse = (why: PasskeyRefused["why"]) => Effect.fail(new PasskeyRefused({ why }))
export const refused = (reason: string) => refuse({ _tag: "refused", reason })

/** The library takes a quarter of a second to load, which a service without passkeys does not need. */
export const webAuthn = Effect.promise(() => import("@simplewebauthn/server"))

export const verified = <A>(make: () => Promise<A>) =>
  Effect.tryPromise({
    try: make,
    catch: (cause) =>
      new PasskeyRefused({
        why: { _tag: "refused", reason: cause instanceof Error ? cause.message.slice(0, 300) : "it failed" }
      })
  })
