import { ControlPlaneClient, type NewAlertRule } from "@runplane/api"
import { jitteredBackoff } from "@runplane/runtime"
import { forever } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { readAlertFiles } from "../catalog/AlertFiles.ts"
import { oneLine } from "../common/LaunchErrors.ts"
import { type ControlPlaneSettings, LauncherSettings } from "../LauncherSettings.ts"

/** Pauses between the attempts of one rule, ms. */
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 10_000

/**
 * Adds the alert rules of the packs when the service starts, through the control plane's `POST /alerts/rules`
 * (docs/reference/packs.md#alert-rules). A rule that exists stays as it is, because its operators may have changed it.
 * It works in the background and fails no request.
 */
export const layerAlertRegistration = Layer.effectDiscard(
  Effect.gen(function* () {
    const { controlPlane, packsDir, registerPolicies } = yield* LauncherSettings
    if (controlPlane === undefined || !registerPolicies) return
    const read = yield* Effect.catch(readAlertFiles(packsDir), (failure) =>
      Effect.as(Effect.logWarning(`the alert rules of the packs cannot be read: ${oneLine(failure)}`), [])
    )
    for (const { at, rule } of read) {
      if (Result.isFailure(rule)) yield* Effect.logWarning(`${at} left out: ${rule.failure}`)
    }
    const rules = read.flatMap(({ rule }) => (Result.isSuccess(rule) ? [rule.success] : []))
    if (rules.length === 0) return
    const once = Effect.forEach(rules, (rule) => addRule(rule, controlPlane), { discard: true }).pipe(
      Effect.as({ pauseMs: Number.POSITIVE_INFINITY }),
      Effect.provide(clientOf(controlPlane))
    )
    // A control plane that is away is not a fault of the loop.
    yield* Effect.forkScoped(forever("alert-registration", once, { limitMs: Number.POSITIVE_INFINITY }))
  })
)

const clientOf = ({ apiKey, url }: ControlPlaneSettings) =>
  ControlPlaneClient.layer({ baseUrl: url, ...(apiKey === undefined ? {} : { apiKey }) })

/** Tries until the control plane answers. */
const addRule = Effect.fnUntraced(function* (rule: NewAlertRule, { timeoutMs, url }: ControlPlaneSettings) {
  const { api } = yield* ControlPlaneClient
  let lastReason = ""
  const warnOnce = (reason: string) =>
    Effect.suspend(() => {
      const line = `alert rule ${rule.id} of the packs is not stored at ${url} yet, trying again: ${reason}`
      const log = reason === lastReason ? Effect.logDebug(line) : Effect.logWarning(line)
      lastReason = reason
      return log
    })
  yield* api.alerts.addRule({ payload: rule }).pipe(
    Effect.andThen(Effect.logInfo(`alert rule ${rule.id} is stored`)),
    Effect.catchTag("Conflict", () => Effect.logInfo(`alert rule ${rule.id} exists already`)),
    Effect.catchTag(["BadRequest", "Forbidden", "ValidationFailed"], (refusal) =>
      Effect.logWarning(`alert rule ${rule.id} of the packs was refused: ${String(refusal.message)}`)
    ),
    Effect.timeout(timeoutMs),
    Effect.tapError((error) => warnOnce(oneLine(error))),
    Effect.retry(jitteredBackoff(FIRST_PAUSE_MS, MAX_PAUSE_MS)),
    // The schedule never ends.
    Effect.orDie
  )
})
