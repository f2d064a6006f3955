import { makeRedactor, type Redactor as Redaction } from "@runplane/domain"
import { ControlPlaneSettings, readSetting } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** What this deployment keeps out of its log and its artifacts. */
export class Redactor extends Context.Service<Redactor, Redaction>()("runplane/control-plane/Redactor") {
  /** From `PROTO_REDACT_PATTERNS`; a pattern that is not a regular expression is reported and skipped. */
  static readonly layer = Layer.effect(
    Redactor,
    Effect.gen(function* () {
      const { invalid, redactor } = makeRedactor(yield* readSetting(ControlPlaneSettings.PROTO_REDACT_PATTERNS))
      for (const pattern of invalid) {
        yield* Effect.logWarning(`PROTO_REDACT_PATTERNS: skipped the invalid pattern ${pattern}`)
      }
      return redactor
    })
  )
}
