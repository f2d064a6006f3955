import {
  type AlertAction,
  type AlertEvent,
  type AlertFiring,
  type AlertNotice,
  type AlertWebhookAction,
  alertBody
} from "@runplane/domain"
import { ControlPlaneSettings, readSetting } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import { Outbox } from "../../platform/outbox/Outbox.ts"

/** A notification of a firing, for all webhooks of its level. */
export interface DueNotice {
  readonly event: AlertEvent
  readonly firing: AlertFiring
  readonly actions: ReadonlyArray<AlertAction>
  readonly failedAction?: { readonly type: string; readonly error: string }
  /** False for a notification that is only in the audit log, because a silence suppresses it. Default true. */
  readonly isDelivered?: boolean
  /** False for a notification that the audit log has already. Default true. */
  readonly isAudited?: boolean
  /** Restricts the webhooks to one format. */
  readonly only?: AlertWebhookAction["format"]
}

/** The caller that a rule is in the audit log, and for the commands of its firings. */
export const ruleCaller = (name: string): Caller => ({
  actor: { actorId: `rule:${name}`, actorType: "rule", role: "admin" },
  requestId: "",
  address: ""
})

/** Writes notifications into the outbox of webhooks and the audit log: for use inside a transaction. */
export class AlertNotices extends Context.Service<
  AlertNotices,
  {
    /** `at` is ISO-8601. */
    readonly send: (notices: ReadonlyArray<DueNotice>, at: string) => Effect.Effect<void, SqlError>
  }
>()("runplane/control-plane/AlertNotices") {
  static readonly layer = Layer.effect(
    AlertNotices,
    Effect.gen(function* () {
      const audit = yield* AuditTrail
      const outbox = yield* Outbox
      const publicUrl = yield* readSetting(ControlPlaneSettings.CONTROL_PLANE_PUBLIC_URL)

      const linkOf = ({ id, runId }: AlertFiring): string | undefined => {
        if (publicUrl === undefined) return undefined
        const base = String(publicUrl).replace(/\/$/, "")
        return runId === undefined ? `${base}/console/alerts?id=${id}` : `${base}/console/runs/${runId}`
      }

      const deliveriesOf = ({ actions, event, failedAction, firing, only }: DueNotice, at: string) =>
        actions.flatMap((action) => {
          if (action.type !== "webhook" || action.subscription === undefined) return []
          if (only !== undefined && action.format !== only) return []
          const notice: AlertNotice = {
            event,
            timestamp: at,
            firing,
            link: linkOf(firing),
            ...(failedAction !== undefined && { failedAction }),
            ...(action.routingKey !== undefined && { routingKey: action.routingKey })
          }
          const payload = JSON.stringify(alertBody(action.format, notice))
          const { id: firingId, runId } = firing
          return [{ subscription: action.subscription, runId, firingId, event, payload, at }]
        })

      const send = Effect.fn("AlertNotices.send")(function* (notices: ReadonlyArray<DueNotice>, at: string) {
        yield* Effect.forEach(
          notices.filter(({ isAudited = true, only }) => isAudited && only === undefined),
          ({ event, failedAction, firing }) =>
            audit.record({
              caller: ruleCaller(firing.ruleName),
              action: event,
              resource: "alert",
              resourceId: firing.id,
              details: {
                ruleId: firing.ruleId,
                key: firing.key,
                period: firing.period,
                level: firing.level,
                value: firing.value,
                ...(firing.telemetry !== undefined && { telemetry: { ...firing.telemetry } }),
                ...(firing.runId !== undefined && { runId: firing.runId }),
                ...(failedAction !== undefined && { failedAction: { ...failedAction } })
              },
              at
            }),
          { discard: true }
        )
        const deliveries = notices
          .filter(({ isDelivered = true }) => isDelivered)
          .flatMap((notice) => deliveriesOf(notice, at))
        if (deliveries.length === 0) return
        yield* outbox.enqueue(deliveries)
      })
      return AlertNotices.of({ send })
    })
  )
}
