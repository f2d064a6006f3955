import type { Run } from "@runplane/api"
import { isTerminal } from "@runplane/domain"
import { useMutation, useQuery } from "@tanstack/react-query"
import { useRef } from "react"
import { callRuns } from "../../client/Client.ts"
import type { CallLauncher } from "../../client/Launcher.ts"
import { CallFailed } from "../../client/Problem.ts"
import { newId } from "../../view/format/NewId.ts"
import { type LaunchOrder, launchBody } from "../../view/launch/LaunchCommands.ts"
import type { LaunchProgress } from "../../view/launch/LaunchSteps.ts"

/** Poll interval of the queue for agents and of the new run. */
const POLL_MS = 700

/** Launches, and follows the progress: the queue for agents, the run, its session, and its first message. */
export const useLaunch = (call: CallLauncher, order: LaunchOrder) => {
  const { runLabel, scenarioRef } = order
  const sent = useRef({ text: "", key: "" })
  const launch = useMutation({
    mutationFn: () => {
      const body = launchBody(order)
      const text = JSON.stringify(body)
      // A repeated attempt has the key of the one before, which may have launched although its answer was lost.
      if (sent.current.text !== text) sent.current = { text, key: newId() }
      return call((api) => api.launch.runExample({ payload: { ...body, idempotencyKey: sent.current.key } }))
    },
    // The next launch is another one, with the same inputs too.
    onSuccess: () => {
      sent.current = { text: "", key: "" }
    }
  })
  const queue = useQuery({
    queryKey: ["launch queue"],
    enabled: launch.isPending,
    refetchInterval: POLL_MS,
    queryFn: ({ signal }) => call((api) => api.launch.queue(), signal)
  })
  const runId = launch.data?.controlPlaneRun?.runId
  const run = useQuery<Run>({
    queryKey: ["launched", runId],
    enabled: runId !== undefined,
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && (data.status === "running" || isTerminal(data.status)) ? false : POLL_MS,
    queryFn: ({ signal }) => callRuns((api) => api.runs.get({ params: { id: runId ?? "" }, query: {} }), signal)
  }).data
  const waiting = queue.data?.waiting.filter((one) => one.scenarioRef === scenarioRef && one.runLabel === runLabel)
  const progress: LaunchProgress = {
    isAsked: !launch.isIdle,
    problem: launch.error instanceof CallFailed ? launch.error.problem : undefined,
    queuePosition: launch.isPending ? waiting?.at(-1)?.position : undefined,
    agents: launch.data?.hostedAgents.length,
    hasRun: runId !== undefined,
    run:
      run === undefined
        ? undefined
        : {
            status: run.status,
            lastEventIndex: run.lastEventIndex,
            startedSession: SESSION_WAS_OPEN.has(run.status),
            errorMessage: run.errorMessage
          }
  }
  return { launch, progress }
}

/** Statuses of a run whose session was there. */
const SESSION_WAS_OPEN: ReadonlySet<string> = new Set(["running", "suspended", "completed"])
