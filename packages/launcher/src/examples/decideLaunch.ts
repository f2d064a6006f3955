import { type EndedAgent, endOf } from "../agents/AgentHost.ts"
import type { FailedParticipant } from "../common/LaunchErrors.ts"
import type { Abandonment } from "../control-plane/LaunchedRuns.ts"
import { type Binding, failedParticipant } from "./ParticipantAgents.ts"

/** How an agent ended, in the texts for callers and for the run. */
const ENDED = "process exited before its session was open"

/** A launch while its agents run, after it has failed, and when there is nothing left to watch. */
export type LaunchState = Watching | Failing | { readonly _tag: "Closed" }

export interface Watching {
  readonly _tag: "Watching"
  readonly agents: ReadonlyArray<WatchedAgent>
  readonly session: Session
  readonly request: Request
}

/** The launch has failed with `reason`, and a report to the control plane is in flight. */
interface Failing {
  readonly _tag: "Failing"
  readonly reason: string
  /** The report in flight is older than the failure. */
  readonly isOlderReport: boolean
}

interface WatchedAgent {
  readonly binding: Binding
  /** Undefined while the process runs. */
  readonly end: EndedAgent | undefined
}

/** The session as far as it is known. Problems are reported one at a time: the first answer may settle the others. */
type Session =
  | {
      readonly _tag: "Waiting"
      readonly problems: ReadonlyArray<Problem>
      /** The problem whose report is in flight. */
      readonly reporting: Problem | undefined
    }
  | { readonly _tag: "Open" }
  | { readonly _tag: "Abandoned" }

/** Why the session may never open: an agent has ended, or the time is over. */
interface Problem {
  readonly kind: "exit" | "crash" | "timeout"
  readonly reason: string
}

/** The request that launches: its agents are attached, all are attached, it has to fail, it was answered. */
type Request = "attaching" | "settling" | "broken" | "answered"

export type Input =
  | { readonly _tag: "Attached"; readonly binding: Binding }
  | { readonly _tag: "Ended"; readonly participantId: string; readonly end: EndedAgent }
  /** The answer to `Report`. */
  | { readonly _tag: "Reported"; readonly outcome: Abandonment }
  /** The session may have opened in time. */
  | { readonly _tag: "TimeOver" }
  /** The answer to `CheckRun`, when the run still waits for its session. */
  | {
      readonly _tag: "NotOpened"
      readonly withinMs: number
      readonly output: ReadonlyArray<{ readonly binding: Binding; readonly lines: ReadonlyArray<string> }>
    }
  /** All agents are attached. */
  | { readonly _tag: "Settle" }
  | { readonly _tag: "Fail"; readonly reason: string }

export type Action =
  /** Reports to the control plane that no agent will open the session. */
  | { readonly _tag: "Report"; readonly reason: string }
  /** Reads whether the run still waits for its session. */
  | { readonly _tag: "CheckRun" }
  /** The request has to fail. */
  | { readonly _tag: "Break" }
  /** The request may be answered. */
  | { readonly _tag: "Settled" }
  | { readonly _tag: "Warn"; readonly reason: string }
  /** Ends the agents of the launch. */
  | { readonly _tag: "StopAgents" }
  | { readonly _tag: "Close" }

type Decision = readonly [LaunchState, ReadonlyArray<Action>]

export const watching: Watching = {
  _tag: "Watching",
  agents: [],
  session: { _tag: "Waiting", problems: [], reporting: undefined },
  request: "attaching"
}

/**
 * What the launch service does about a launch until its session is open (docs/internals/launch.md#dead-agents). Pure
 * and total: effects are actions, and an input that does not concern the state changes nothing.
 */
export const decide = (state: LaunchState, input: Input): Decision => {
  if (state._tag === "Watching") return decideWatching(state, input)
  if (state._tag === "Closed" || input._tag !== "Reported") return [state, []]
  return state.isOlderReport && input.outcome === "unknown"
    ? [{ ...state, isOlderReport: false }, [{ _tag: "Report", reason: state.reason }]]
    : closed()
}

/** The agents that ended too early: before the session was open, or without success. */
export const deadAgents = (state: LaunchState): ReadonlyArray<FailedParticipant> => {
  if (state._tag !== "Watching") return []
  const isOpen = state.session._tag === "Open"
  return state.agents.flatMap(({ binding, end }) =>
    end === undefined || (isOpen && end.code === 0) ? [] : [failedParticipant(binding, endOf(end, ENDED))]
  )
}

const decideWatching = (state: Watching, input: Input): Decision => {
  const { agents, request, session } = state
  switch (input._tag) {
    case "Attached":
      return [{ ...state, agents: [...agents, { binding: input.binding, end: undefined }] }, []]
    case "Ended":
      return ended(state, input.participantId, input.end)
    case "Reported":
      return session._tag === "Waiting" ? reported(state, session, input.outcome) : [state, []]
    case "TimeOver":
      return [state, session._tag === "Waiting" ? [{ _tag: "CheckRun" }] : []]
    case "NotOpened": {
      const output = input.output
        .filter(({ lines }) => lines.length > 0)
        .map(({ binding, lines }) => `${nameOf(binding)} said: ${lines.join(" | ")}`)
      const reason = [`no agent opened it within ${input.withinMs} ms`, ...output].join("; ")
      return proceed({ ...state, session: withProblem(session, { kind: "timeout", reason }) })
    }
    case "Settle":
      return request === "attaching" ? proceed({ ...state, request: "settling" }) : [state, []]
    case "Fail": {
      const { reason } = input
      if (session._tag !== "Waiting") return closed({ _tag: "StopAgents" })
      const isOlderReport = session.reporting !== undefined
      const report: ReadonlyArray<Action> = isOlderReport ? [] : [{ _tag: "Report", reason }]
      return [{ _tag: "Failing", reason, isOlderReport }, [{ _tag: "StopAgents" }, ...report]]
    }
  }
}

const ended = (state: Watching, participantId: string, end: EndedAgent): Decision => {
  const agents = state.agents.map((agent) =>
    agent.binding.participantId === participantId ? { ...agent, end } : agent
  )
  const binding = agents.find((agent) => agent.binding.participantId === participantId)?.binding
  if (binding === undefined) return [state, []]
  const kind = end.code === 0 ? "exit" : "crash"
  const session = withProblem(state.session, { kind, reason: `${nameOf(binding)}: ${endOf(end, ENDED)}` })
  const next = { ...state, agents, session }
  return kind === "crash" && session._tag === "Open" ? breakAnd(next, proceed) : proceed(next)
}

const reported = (state: Watching, { problems, reporting }: Waiting, outcome: Abandonment): Decision => {
  switch (outcome) {
    case "unknown":
      return proceed({ ...state, session: { _tag: "Waiting", problems, reporting: undefined } })
    case "opened": {
      const open: Watching = { ...state, session: { _tag: "Open" } }
      return problems.some(({ kind }) => kind === "crash") ? breakAnd(open, proceed) : proceed(open)
    }
    case "abandoned": {
      // While the request is open, its failure ends the agents.
      const isStop = reporting !== undefined && (state.request === "answered" || reporting.kind === "timeout")
      const stop: ReadonlyArray<Action> = isStop
        ? [{ _tag: "Warn", reason: reporting.reason }, { _tag: "StopAgents" }]
        : []
      return breakAnd({ ...state, session: { _tag: "Abandoned" } }, (broken) => {
        const [next, actions] = proceed(broken)
        return [next, [...stop, ...actions]]
      })
    }
  }
}

type Waiting = Extract<Session, { readonly _tag: "Waiting" }>

/** Reports the next problem; without one, settles the request, and closes once every agent has ended. */
const proceed = (state: Watching): Decision => {
  const { agents, request, session } = state
  if (session._tag === "Waiting") {
    const { problems, reporting } = session
    if (reporting !== undefined) return [state, []]
    const [problem, ...others] = problems
    if (problem !== undefined) {
      const next: Watching = { ...state, session: { _tag: "Waiting", problems: others, reporting: problem } }
      const report = (of: Watching): Decision => [of, [{ _tag: "Report", reason: problem.reason }]]
      // A crash fails the launch whatever the control plane answers.
      return problem.kind === "crash" ? breakAnd(next, report) : report(next)
    }
  }
  if (request === "settling") {
    const [next, actions] = proceed({ ...state, request: "answered" })
    return [next, [{ _tag: "Settled" }, ...actions]]
  }
  return request === "answered" && agents.every(({ end }) => end !== undefined) ? closed() : [state, []]
}

/** Fails the request if it is still open, then decides the rest. */
const breakAnd = (state: Watching, decideNext: (state: Watching) => Decision): Decision => {
  if (state.request === "answered" || state.request === "broken") return decideNext(state)
  const [next, actions] = decideNext({ ...state, request: "broken" })
  return [next, [{ _tag: "Break" }, ...actions]]
}

const withProblem = (session: Session, problem: Problem): Session =>
  session._tag === "Waiting" ? { ...session, problems: [...session.problems, problem] } : session

const closed = (...before: ReadonlyArray<Action>): Decision => [{ _tag: "Closed" }, [...before, { _tag: "Close" }]]

const nameOf = ({ agentRef, participantId }: Binding) => `agent ${participantId} (${agentRef})`
