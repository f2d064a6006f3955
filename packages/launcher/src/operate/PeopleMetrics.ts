import { MAIL, TurnFailure, TurnPhase } from "@runplane/domain"
import { forever } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Counter, Gauge, type Registry } from "prom-client"
import { People } from "../people/People.ts"
import { countPeople, type PeopleCounts } from "../people/PeopleCounts.ts"
import { LauncherMetrics } from "./AgentMetrics.ts"

/** How often the figures are counted. Milliseconds. */
const EVERY_MS = 10_000

const OUTCOMES = [
  ["sent", "notices_sent"],
  ["failed", "notices_failed"],
  ["digested", "notices_digested"],
  ["obsolete", "notices_obsolete"]
] as const

/**
 * Questions and answers as metrics (docs/reference/admin.md#metrics-endpoint), counted from the rows, so
 * a restart changes no figure. While the database cannot be read they are absent, and the loop reports it.
 */
export const layerPeopleMetrics = Layer.effectDiscard(
  Effect.gen(function* () {
    const people = yield* People
    if (people === undefined) return
    const { registry } = yield* LauncherMetrics
    let counts: PeopleCounts | undefined
    const registers = [registry]

    const gauge = (name: string, help: string, value: (counts: PeopleCounts) => number) =>
      new Gauge({
        ...{ name, help, registers },
        collect() {
          if (counts === undefined) this.remove()
          else this.set(value(counts))
        }
      })
    const counter = <Label extends string>(
      name: string,
      help: string,
      values: (counts: PeopleCounts) => ReadonlyArray<readonly [Partial<Record<Label, string>>, number]>,
      labelNames: ReadonlyArray<Label> = []
    ) =>
      new Counter<Label>({
        ...{ name, help, registers, labelNames },
        collect() {
          // A counter without labels is never absent by itself.
          this.reset()
          if (counts === undefined) this.remove()
          else for (const [labels, value] of values(counts)) this.inc(labels, value)
        }
      })

    new Gauge({
      name: "runplane_items_open",
      help: "Questions to people that are not answered: open, or waiting until they may be asked",
      labelNames: ["state"],
      registers,
      collect() {
        this.reset()
        if (counts === undefined) return
        this.set({ state: "waiting" }, counts.waiting)
        this.set({ state: "open" }, counts.open)
      }
    })
    counter(
      "runplane_items_expired_total",
      "Questions that ended at their deadline without an act; an act of the deadline is an answer",
      ({ expired }) => [[{}, expired]]
    )
    counter(
      "runplane_answers_total",
      "Answers that were stored: of persons, and acts of the deadline",
      ({ by_deadline, by_person }) => [
        [{ origin: "person" }, by_person],
        [{ origin: "deadline" }, by_deadline]
      ],
      ["origin"]
    )
    counter(
      "runplane_answer_ids_taken_total",
      "Answers whose message id another participant had used: they got a new id",
      ({ ids_taken }) => [[{}, ids_taken]]
    )
    counter(
      "runplane_suspensions_total",
      "Suspensions of sessions that waited for people alone, and those that the runtime refused",
      ({ suspensions, suspensions_refused }) => [
        [{ outcome: "done" }, suspensions],
        [{ outcome: "refused" }, suspensions_refused]
      ],
      ["outcome"]
    )
    counter(
      "runplane_escalations_total",
      "Steps of escalations that were made, by whom they reach: persons, unknown or none",
      ({ escalated_none, escalated_persons, escalated_unknown }) => [
        [{ reach: "persons" }, escalated_persons],
        [{ reach: "unknown" }, escalated_unknown],
        [{ reach: "none" }, escalated_none]
      ],
      ["reach"]
    )
    counter(
      "runplane_escalations_unreachable_total",
      "Steps of escalations that reached no person when their question opened",
      ({ unreachable }) => [[{}, unreachable]]
    )
    gauge(
      "runplane_answers_unsettled_age_seconds",
      "Age of the oldest answer whose message is neither read in its session nor refused; 0 without one",
      ({ oldest_seconds }) => oldest_seconds
    )
    gauge(
      "runplane_people_records_waiting",
      "Records of questions and answers that the control plane does not have yet",
      ({ unposted }) => unposted
    )

    counter(
      "runplane_notices_total",
      "Notices to persons that have ended, by channel and what became of them",
      (read) => OUTCOMES.map(([outcome, name]) => [{ channel: MAIL, outcome }, read[name]] as const),
      ["channel", "outcome"]
    )
    gauge("runplane_notices_waiting", "Notices that are not sent yet", ({ notices_waiting }) => notices_waiting)
    counter(
      "runplane_items_undelivered_total",
      "Questions of which no person could be notified; more than 0 needs an operator",
      ({ undelivered }) => [[{}, undelivered]]
    )

    turnMetrics(registers, () => counts)

    const round = countPeople(people.sql).pipe(
      Effect.tapCause(() => Effect.sync(() => (counts = undefined))),
      Effect.flatMap((read) =>
        Effect.sync(() => {
          counts = read
        })
      )
    )
    yield* Effect.forkScoped(forever("people-metrics", round, { every: EVERY_MS }))
  })
)

/** The turns of agents that speak A2A. */
const turnMetrics = (registers: Array<Registry>, read: () => PeopleCounts | undefined) => {
  new Counter({
    ...{ name: "runplane_a2a_turns_total", registers, labelNames: ["outcome", "failure"] },
    help: "Turns of agents that speak A2A: with an act of the agent, failed ones by their failure, and ended ones",
    collect() {
      this.reset()
      const counts = read()
      if (counts === undefined) return
      this.inc({ outcome: "acted" }, counts.turns_acted)
      this.inc({ outcome: "ended" }, counts.turns_ended)
      for (const failure of TurnFailure.literals) {
        this.inc({ outcome: "failed", failure }, counts.turns_failed[failure] ?? 0)
      }
    }
  })
  new Gauge({
    ...{ name: "runplane_a2a_turns_open", registers, labelNames: ["phase"] },
    help: "Turns of agents that speak A2A that wait for an act, by the message that is answered",
    collect() {
      this.reset()
      const counts = read()
      if (counts === undefined) return
      for (const phase of TurnPhase.literals) this.set({ phase }, counts.turns_open[phase] ?? 0)
    }
  })
  new Counter({
    ...{ name: "runplane_a2a_resent_total", registers },
    help: "Messages that an agent was sent once more, since its answer was lost and it showed no task",
    collect() {
      // A counter without labels is never absent by itself.
      this.reset()
      const counts = read()
      if (counts === undefined) this.remove()
      else this.inc(counts.resent)
    }
  })
}
