import type { ControlPlaneCalls, Run } from "@runplane/api"
import type { RunState } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { StatusBadge, Time } from "../../ui/basics.tsx"
import { CostText } from "../../ui/CostText.tsx"
import { Facts, Loaded, Panel, Table, TextLink } from "../../ui/kit.tsx"
import { newestRuns } from "../../ui/search/useRunSearch.ts"
import { useRead } from "../../ui/useRead.ts"
import { agentRecord } from "../../view/agents/AgentRecord.ts"
import { counted, duration, percent, whole } from "../../view/format/Format.ts"
import { queryValue } from "../../view/query/QueryCompletion.ts"
import { runFacts } from "../../view/run/RunFacts.ts"

/** Runs whose state is read: the newest ones of the participant. */
const MOST_RUNS = 20

interface Seen {
  readonly run: Run
  readonly state: RunState
}

const readRuns = (participantId: string) => (api: ControlPlaneCalls) =>
  Effect.gen(function* () {
    const { data, total } = yield* api.runs.list({
      query: { ...newestRuns(MOST_RUNS), q: `participant:${queryValue(participantId)}` }
    })
    const seen = yield* Effect.forEach(
      data,
      // A run may be deleted meanwhile.
      (run) => Effect.option(Effect.map(api.runs.state({ params: { id: run.id } }), (state): Seen => ({ run, state }))),
      { concurrency: 4 }
    )
    return { seen: seen.flatMap((found) => (found._tag === "Some" ? [found.value] : [])), total }
  })

/** What a participant did in its last runs, by the states of these: agreement with the outcome, latency, cost. */
export const Record = ({ participantId }: { readonly participantId: string }) => {
  const runs = useRead(["agent record", participantId], readRuns(participantId))
  return (
    <Loaded read={runs} what="Its runs cannot be read" rows={5} height={36}>
      {({ seen, total }) => {
        const record = agentRecord(
          participantId,
          seen.map(({ state }) => state)
        )
        const { agreed, calls, decided, latencyMs, tokens } = record
        return (
          <Panel title="Last runs" note={total > seen.length ? `${seen.length} of ${whole(total)}` : undefined}>
            <Facts
              facts={[
                [
                  "Agreement",
                  decided === 0
                    ? "No vote in a decided run"
                    : `${percent(agreed / decided)}: ${agreed} of ${counted(decided, "vote")} for the outcome`
                ],
                ["LLM calls", calls === 0 ? "None" : `${whole(calls)}, ${whole(tokens)} tokens`],
                ["Latency", latencyMs === undefined ? "–" : `${duration(latencyMs)} per call (mean)`],
                ["Cost", calls === 0 ? "–" : <CostText key="cost" cost={record} />]
              ]}
            />
            <Table
              label="Last runs"
              rows={seen}
              keyOf={({ run }) => run.id}
              columns={[
                { title: "Status", cell: ({ run }) => <StatusBadge status={run.status} /> },
                {
                  title: "Run",
                  className: "max-w-[200px] truncate",
                  cell: ({ run }) => <TextLink href={`/runs/${run.id}`}>{runFacts(run).title}</TextLink>
                },
                { title: "Time", from: "sm", cell: ({ run }) => <Time at={run.createdAt} /> }
              ]}
            />
          </Panel>
        )
      }}
    </Loaded>
  )
}
