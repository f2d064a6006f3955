/** What a refused call says. */
interface Refusal {
  /** 0 when there was no answer. */
  readonly status: number
  readonly code: string
  readonly messages: ReadonlyArray<string>
}

export type StepState = "done" | "now" | "failed" | "later"

export interface LaunchStep {
  readonly id: "compiled" | "agents" | "submitted" | "session" | "event"
  readonly title: string
  readonly state: StepState
  /** Why it failed and what can be done, or what it waits for. */
  readonly about: string | undefined
}

/** What is known of a launch. */
export interface LaunchProgress {
  readonly isAsked: boolean
  readonly problem: Refusal | undefined
  /** Position in the queue for agents, while it waits. */
  readonly queuePosition: number | undefined
  readonly agents: number | undefined
  readonly hasRun: boolean
  /** Of the run: its status, its events, and why it failed. */
  readonly run:
    | {
        readonly status: string
        readonly lastEventIndex: number
        readonly startedSession: boolean
        readonly errorMessage: string | undefined
      }
    | undefined
}

const TITLES = [
  ["compiled", "Compiled"],
  ["agents", "Agents started"],
  ["submitted", "Submitted"],
  ["session", "Session open"],
  ["event", "First message"]
] as const

/** Codes of the launch service for failures of agents. */
const AGENTS = /^(?:AGENT_|AUTH_MINT|INVALID_CONFIG)/

const adviceFor = (problem: Refusal): readonly [at: number, about: string] => {
  const said = problem.messages.join("; ")
  if (problem.status === 0) return [0, `${said}: check that the launch service runs and allows this origin`]
  if (problem.status === 401 || problem.status === 403) return [0, `${said}: another key is needed to launch`]
  if (problem.status === 429) return [0, `${said}: the service limits the requests of each client; try again`]
  if (problem.code === "LAUNCHES_FULL") return [1, `${said}; try again, or stop agents that are no longer needed`]
  if (problem.code === "BUDGET_EXHAUSTED") return [2, said]
  if (problem.code === "AGENT_NOT_FOUND") return [1, `${said}: the scenario names an agent that the catalog lacks`]
  if (problem.code === "AUTH_MINT_FAILED") return [1, `${said}: the auth service made no tokens for the agents`]
  if (AGENTS.test(problem.code)) return [1, `${said}: see the agent's output in the log of the launch service`]
  return [0, said]
}

/** The launch as steps with their states, and the reason of a failure. */
export const launchSteps = (progress: LaunchProgress): ReadonlyArray<LaunchStep> => {
  const { agents, hasRun, isAsked, queuePosition, problem, run } = progress
  const failure = problem === undefined ? failureOf(progress) : adviceFor(problem)
  const reached =
    run === undefined
      ? hasRun
        ? 3
        : agents !== undefined
          ? 2
          : isAsked
            ? 1
            : 0
      : run.startedSession
        ? run.lastEventIndex > 0
          ? 5
          : 4
        : 3
  return TITLES.map(([id, title], at): LaunchStep => {
    if (failure !== undefined) {
      const state = at < failure[0] ? "done" : at === failure[0] ? "failed" : "later"
      return { id, title, state, about: at === failure[0] ? failure[1] : undefined }
    }
    const state = at < reached ? "done" : at === reached ? "now" : "later"
    const waits = id === "agents" && state === "now" && queuePosition !== undefined
    const counted = id === "agents" && state === "done" && agents !== undefined ? `${agents} agents` : undefined
    return { id, title, state, about: waits ? `waits for capacity, position ${queuePosition} in the queue` : counted }
  })
}

const failureOf = ({ agents, hasRun, run }: LaunchProgress): readonly [number, string] | undefined => {
  if (agents !== undefined && !hasRun) {
    return [2, "the agents run, but the control plane did not take the run: check that it answers"]
  }
  if (run === undefined || (run.status !== "failed" && run.status !== "cancelled") || run.startedSession)
    return undefined
  return [3, run.errorMessage ?? `the run is ${run.status}: no agent has opened the session`]
}
