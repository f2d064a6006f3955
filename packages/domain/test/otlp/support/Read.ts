import type { EventOf, KnownEvent, Span, Telemetry } from "@runplane/domain"
import { agent, chat, span, tool } from "./Spans.ts"
import { summaryOf } from "./Summary.ts"
import { type Request, runFold } from "./TraceFolds.ts"

export const at = (ms: number, ...telemetry: ReadonlyArray<Telemetry>): Request => ({ at: ms, telemetry })

/** The fold of telemetry that arrives together. */
export const foldOf = (...telemetry: ReadonlyArray<Telemetry>) => runFold([at(1_000, ...telemetry)])
export const summary = (...telemetry: ReadonlyArray<Telemetry>) => summaryOf(foldOf(...telemetry))

export const dataOf = ({ recorded: { data } }: KnownEvent) => data
export const ofType = <Type extends KnownEvent["type"]>(events: ReadonlyArray<KnownEvent>, type: Type) =>
  events.filter((each): each is EventOf<Type> => each.type === type)

/** A lead that calls a tool, which calls another agent. */
export const committee = (): ReadonlyArray<Span> => [
  span("lead", [0, 100], agent("lead")),
  span("call1", [1, 10], chat(100, 10), { parent: "lead" }),
  span("ask", [11, 50], tool("ask_sre"), { parent: "lead" }),
  span("sre", [12, 49], agent("sre"), { parent: "ask" }),
  span("call2", [13, 20], chat(50, 5), { parent: "sre" }),
  span("budget", [21, 30], tool("error_budget"), { parent: "sre", status: "error", statusMessage: "timeout" }),
  span("call3", [51, 60], chat(200, 20), { parent: "lead" })
]
