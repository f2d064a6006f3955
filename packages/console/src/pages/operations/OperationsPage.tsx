import type { Readiness } from "@runplane/api"
import { useTitle } from "../../ui/hooks.ts"
import { Facts, Loaded, Panel, Sheet, useIsOld } from "../../ui/kit.tsx"
import { useMay } from "../../ui/useMe.ts"
import { isOld } from "../../ui/useRead.ts"
import { useReady } from "../../ui/useReady.ts"
import { Archive } from "./Archive.tsx"
import { Breaker } from "./Breaker.tsx"
import { Check } from "./Check.tsx"
import { Drift } from "./Drift.tsx"
import { Processes } from "./Processes.tsx"
import { ProcessParts } from "./ProcessParts.tsx"
import { ReadAge } from "./ReadAge.tsx"
import { RuntimeParts } from "./RuntimeParts.tsx"
import { Telemetry } from "./Telemetry.tsx"

/** The health of the service and its runtime, and the actions of an operator. */
export default function OperationsPage() {
  useTitle("Operations")
  const isAdmin = useMay()("admin")
  const ready = useReady()
  const isUnknown = useIsOld()
  return (
    <Sheet
      title="Operations"
      note={
        ready.data === undefined || isOld(ready) || (isUnknown && ready.data.status === "ok")
          ? undefined
          : ready.data.status === "ok"
            ? "all checks pass"
            : "degraded"
      }
    >
      <div className="grid items-start gap-3 xl:grid-cols-2">
        <div className="grid gap-3">
          <Panel title="Readiness" actions={<ReadAge read={ready} />}>
            <Loaded read={ready} what="The readiness cannot be read" rows={5}>
              {(shown) => <Checks ready={shown} />}
            </Loaded>
          </Panel>
          <Breaker mayReset={isAdmin} stateNow={ready.data?.checks.circuitBreaker} />
        </div>
        {ready.data?.ingest === undefined ? null : <Telemetry ingest={ready.data.ingest} ready={ready} />}
        <Archive />
        <Processes />
        <Drift />
        <RuntimeParts />
        {isAdmin ? <ProcessParts /> : null}
      </div>
    </Sheet>
  )
}

const Checks = ({ ready: { archive, checks } }: { readonly ready: Readiness }) => (
  <>
    <Facts
      facts={[
        [
          "Database",
          <Check
            key="database"
            ok={checks.database === "ok"}
            text={checks.database === "ok" ? "answers" : "does not answer"}
          />
        ],
        [
          "Event log",
          <Check
            key="log"
            ok={checks.log.ok}
            text={checks.log.detail === "" ? "events are stored as they arrive" : checks.log.detail}
          />
        ],
        [
          "Runtime",
          <Check key="runtime" ok={checks.runtime.ok} text={checks.runtime.detail ?? checks.runtime.runtimeKind} />
        ],
        [
          "Streams of runs",
          <Check
            key="streams"
            ok={checks.streamConsumer === "ok"}
            text={checks.streamConsumer === "ok" ? "connected" : "some are not connected"}
          />
        ],
        [
          "Circuit breaker",
          <Check
            key="breaker"
            ok={checks.circuitBreaker === "CLOSED"}
            text={checks.circuitBreaker.toLowerCase().replace("_", " ")}
          />
        ],
        ...(archive === undefined
          ? []
          : [
              [
                "Archive",
                <Check
                  key="archive"
                  ok={archive.ok}
                  text={archive.detail === "" ? "files are written" : archive.detail}
                />
              ] as const
            ]),
        ...(checks.recovery === undefined ? [] : [["Recovery", checks.recovery] as const])
      ]}
    />
  </>
)
