import { useEffect } from "react"
import { call } from "../../client/Client.ts"
import { Chip, Time, UserText } from "../../ui/basics.tsx"
import { Confirm, DialogButton } from "../../ui/dialogs/Confirm.tsx"
import { Loaded, Panel, Table, useHasNoDatabase, useIsOld } from "../../ui/kit.tsx"
import { isOld, useRead } from "../../ui/useRead.ts"
import type { Tone } from "../../view/format/Status.ts"
import { LATER_MS } from "../../view/live/Polls.ts"
import { ReadAge } from "./ReadAge.tsx"

const SHOWN = 12

const tones: Readonly<Record<"CLOSED" | "OPEN" | "HALF_OPEN", Tone>> = {
  CLOSED: "good",
  OPEN: "bad",
  HALF_OPEN: "warn"
}
const words = { CLOSED: "closed", OPEN: "open", HALF_OPEN: "half open" } as const

interface BreakerProps {
  readonly mayReset: boolean
  /** The state by the readiness, which is read more often: another one reads the history again. */
  readonly stateNow: string | undefined
}

/** The circuit breaker in front of the runtime: its state, its history, and a button to close it. */
export const Breaker = ({ mayReset, stateNow }: BreakerProps) => {
  const breaker = useRead(["breaker"], (api) => api.admin.circuitBreakerHistory({ query: {} }), {
    everyMs: LATER_MS
  })
  const isAway = useHasNoDatabase()
  const isUnknown = useIsOld() || isAway
  const state = breaker.data?.state
  const { refetch } = breaker
  const isBehind = stateNow !== undefined && state !== undefined && stateNow !== state
  useEffect(() => {
    if (isBehind) void refetch()
  }, [isBehind, refetch])
  return (
    <Panel
      title="Circuit breaker"
      note={
        state === undefined ? undefined : (
          <Chip tone={isOld(breaker) || isUnknown ? "calm" : tones[state]}>{words[state]}</Chip>
        )
      }
      actions={
        <>
          <ReadAge read={breaker} />
          {mayReset ? (
            <DialogButton
              disabled={state === undefined || state === "CLOSED"}
              title={
                state === "CLOSED" ? "The breaker is closed" : "Closes the breaker, so that calls reach the runtime"
              }
              dialog={(close) => (
                <Confirm
                  title="Close the circuit breaker?"
                  button="Close it"
                  fault="The breaker could not be closed"
                  onClose={close}
                  renews={[["breaker"], ["ready"]]}
                  act={() => call((api) => api.admin.resetCircuitBreaker())}
                >
                  <p className="text-soft">
                    The breaker of the process that answers closes, and calls reach the runtime again. It opens again
                    when they fail.
                  </p>
                </Confirm>
              )}
            >
              Reset
            </DialogButton>
          ) : null}
        </>
      }
    >
      <Loaded read={breaker} what="The breaker cannot be read" rows={3}>
        {({ history }) =>
          history.length === 0 ? (
            <p className="p-3 text-muted">The breaker has not changed since this process started.</p>
          ) : (
            <Table
              label="History of the breaker"
              rows={history.toReversed().slice(0, SHOWN)}
              keyOf={({ enteredAt, state: entered }) => `${enteredAt} ${entered}`}
              columns={[
                {
                  title: "State",
                  cell: ({ state: entered }) => (
                    <Chip tone={isUnknown && entered === "CLOSED" ? "calm" : tones[entered]}>{words[entered]}</Chip>
                  )
                },
                { title: "Since", cell: ({ enteredAt }) => <Time at={enteredAt} /> },
                { title: "Reason", cell: ({ reason }) => <UserText text={reason} className="text-soft" /> }
              ]}
            />
          )
        }
      </Loaded>
    </Panel>
  )
}
