import * as NodePath from "@effect/platform-node/NodePath"
import * as PgClient from "@effect/sql-pg/PgClient"
import type { RemoteAgent, TurnText } from "@runplane/domain"
import { turnSeat } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { LauncherSettings } from "../../../src/LauncherSettings.ts"
import { SeatRows } from "../../../src/people/SeatRows.ts"
import { SeatRunner } from "../../../src/people/SeatRunner.ts"
import { makeCards } from "../../../src/remote/RemoteCards.ts"
import { RemoteHttp } from "../../../src/remote/RemoteHttp.ts"
import { DECISION, SEAT } from "../SeatStage.ts"

let sessions = 0
/** The id of a new session. */
export const newSession = () => {
  sessions += 1
  return `00000000-0000-4000-a2a0-${String(sessions).padStart(12, "0")}`
}

const layerHttp = RemoteHttp.layer.pipe(
  Layer.provide(LauncherSettings.layerFrom({ allowPrivateAgents: true })),
  Layer.provide(NodePath.layer)
)

/** The agent of a card, as a launch pins it. */
export const pin = (entrypoint: string) =>
  Effect.flatMap(
    makeCards(() => undefined),
    (cards) => cards.pin({ agentRef: "remote-agent", entrypoint, auth: undefined })
  ).pipe(Effect.provide(layerHttp))

const seatOf = (sessionId: string, agent: RemoteAgent, rules: TurnText = {}) => ({
  ...{ sessionId, seat: SEAT, modeName: DECISION, scenarioRef: "test/remote@1.0.0", agent },
  ...{ rules: turnSeat({ when: "proposed", ...rules }), seats: [SEAT], requester: undefined }
})

/** Adds a participant that speaks A2A to a session. */
export const addAgent = (sessionId: string, agent: RemoteAgent, rules?: TurnText) =>
  Effect.flatMap(SeatRunner, ({ add }) => add([seatOf(sessionId, agent, rules)]))

/** The same while no service runs. */
export const addAgentRow = (sessionId: string, agent: RemoteAgent) =>
  Effect.flatMap(SeatRows, ({ add }) => add([seatOf(sessionId, agent)]))

/** The row of the turn of a session, with what became of it. */
export const turnOf = (sessionId: string) =>
  Effect.flatMap(
    PgClient.PgClient,
    (sql) =>
      sql<{
        failure: string | null
        failure_reason: string | null
        resent: number
        state: string
        task_id: string | null
      }>`
      SELECT t.failure, t.failure_reason, t.resent, i.state, t.task_id, t.phase
      FROM people.items i LEFT JOIN people.turns t ON t.item = i.id WHERE i.session_id = ${sessionId}
      ORDER BY i.created_at`
  )

/** The turn once its item is in one of these states. */
export const turnWhen = (sessionId: string, ...states: ReadonlyArray<string>) =>
  Effect.map(
    until(turnOf(sessionId), (rows) => rows.some(({ state }) => states.includes(state))),
    (rows) => rows.find(({ state }) => states.includes(state))
  )

/** The records of a session that the control plane is to have. */
export const recordsOf = (sessionId: string) =>
  Effect.flatMap(
    PgClient.PgClient,
    (sql) =>
      sql<{ kind: string; content: Readonly<Record<string, unknown>> }>`
      SELECT kind, content FROM people.records WHERE session_id = ${sessionId} ORDER BY id`
  )
