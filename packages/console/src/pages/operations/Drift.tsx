import { Id, UserText } from "../../ui/basics.tsx"
import { Facts, Loaded, Panel, Table, TextLink } from "../../ui/kit.tsx"
import { useRead } from "../../ui/useRead.ts"
import { whole } from "../../view/format/Format.ts"
import { LATER_MS } from "../../view/live/Polls.ts"
import { Check } from "./Check.tsx"
import { ReadAge } from "./ReadAge.tsx"

const SHOWN = 50

/** Differences between the sessions of the runtime and the runs. */
export const Drift = () => {
  const drift = useRead(["drift"], (api) => api.admin.runtimeSessions(), { everyMs: LATER_MS })
  return (
    <Panel title="Drift" note="sessions of the runtime compared with runs" actions={<ReadAge read={drift} />}>
      <div id="drift">
        <Loaded read={drift} what="The drift report cannot be read" rows={4}>
          {(report) => {
            const missing = report.missingFromRuntime ?? []
            const isClean = report.untrackedSessions.length === 0 && missing.length === 0
            return (
              <>
                <Facts
                  facts={[
                    [
                      "Verdict",
                      <Check
                        key="verdict"
                        ok={isClean}
                        text={
                          isClean
                            ? report.complete
                              ? "no difference"
                              : "no difference among the sessions that were listed"
                            : "they differ; a run that is being bound may appear for a short time"
                        }
                      />
                    ],
                    ["Sessions", `${whole(report.runtimeSessionCount)}, ${whole(report.liveRuntimeSessionCount)} live`],
                    ["Bound runs", whole(report.trackedRunCount)],
                    ["Listing", report.complete ? "complete" : "incomplete: it reached its limit of pages or time"]
                  ]}
                />
                {report.untrackedSessions.length === 0 ? null : (
                  <Table
                    label="Live sessions without a run"
                    rows={report.untrackedSessions.slice(0, SHOWN)}
                    keyOf={({ sessionId }) => sessionId}
                    columns={[
                      {
                        title: "Live session without a run",
                        cell: ({ sessionId }) => <Id id={sessionId} label="session id" />
                      },
                      { title: "Mode", cell: ({ mode }) => <UserText text={mode} /> },
                      { title: "State", cell: ({ state }) => state }
                    ]}
                  />
                )}
                {missing.length === 0 ? null : (
                  <Table
                    label="Runs whose session is gone"
                    rows={missing.slice(0, SHOWN)}
                    keyOf={({ runId }) => runId}
                    columns={[
                      {
                        title: "Run whose session is gone",
                        cell: ({ runId }) => <TextLink href={`/runs/${runId}`}>{runId}</TextLink>
                      },
                      {
                        title: "Session",
                        cell: ({ runtimeSessionId }) => <Id id={runtimeSessionId} label="session id" />
                      }
                    ]}
                  />
                )}
              </>
            )
          }}
        </Loaded>
      </div>
    </Panel>
  )
}
