import { create } from "@bufbuild/protobuf"
import { type Envelope, EnvelopeSchema } from "@runplane/runtime"
import type { Brief, Opening } from "../../src/examples/runner/Brief.ts"
import { emptySession, type Session } from "../../src/examples/runner/Session.ts"
import { type Action, type Outcome, type Step, wait } from "../../src/examples/runner/Strategy.ts"
import { STRATEGIES } from "../../src/examples/Strategies.ts"

/** A scenario without its pack: who takes part, what is known, and what the initiator says first. */
export interface Play {
  /** Participant and agentRef, the initiator last; without an agentRef the participant keeps silent. */
  readonly cast: ReadonlyArray<readonly [participant: string, agentRef: string]>
  readonly kickoff: Opening["kickoff"]
  readonly context: object
  readonly hints?: object
  readonly people?: Brief["people"]
  readonly seed?: string
}

export interface Rehearsed {
  readonly session: Session
  readonly outcome: Outcome | undefined
  readonly cancelled: string | undefined
  readonly unable: string | undefined
  /** What was done beside the session: signals and progress, with who did it. */
  readonly beside: ReadonlyArray<{ readonly by: string; readonly action: Action }>
}

/** Turns after which a rehearsal counts as going round in circles. */
const MOST_TURNS = 200

/**
 * Lets the agents of a play talk to each other without a runtime: every message is accepted, and they are asked in
 * turn. When all of them wait, the time of the initiator's wait has passed.
 */
export const rehearse = (play: Play): Rehearsed => {
  const participants = play.cast.map(([participant]) => participant)
  const initiator = participants.at(-1)
  const said: Array<Envelope> = []
  const beside: Array<{ by: string; action: Action }> = []
  let session = emptySession
  let outcome: Outcome | undefined
  let cancelled: string | undefined
  let overdue = false

  const say = (sender: string, messageType: string, payload = new Uint8Array()) => {
    said.push(create(EnvelopeSchema, { messageType, sender, payload, messageId: `m${said.length}` }))
    session = [...said]
  }
  const perform = (self: string, action: Action) => {
    if (action._tag === "Open") say(self, "SessionStart")
    else if (action._tag === "Say") say(self, action.messageType, action.payload)
    else if (action._tag === "Commit") outcome = action.outcome
    else if (action._tag === "Cancel") cancelled = action.reason
    else beside.push({ by: self, action })
  }
  const end = (unable?: string): Rehearsed => ({ session, outcome, cancelled, unable, beside })

  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    let someoneActed = false
    for (const [self, agentRef] of play.cast) {
      // Only the initiator acts before the session exists.
      if (session.length === 0 && self !== initiator) continue
      const step = stepOf(agentRef, briefOf(play, self, agentRef), session, overdue && self === initiator)
      if (step._tag === "Unable") return end(step.reason)
      if (step._tag !== "Act") continue
      someoneActed = true
      for (const action of step.actions) perform(self, action)
      if (outcome !== undefined || cancelled !== undefined) return end()
    }
    if (!someoneActed && overdue) return end()
    overdue = !someoneActed
  }
  throw new Error("the rehearsal goes round in circles")
}

const stepOf = (agentRef: string, brief: Brief, session: Session, overdue: boolean): Step => {
  if (agentRef === "") return wait
  const strategy = STRATEGIES[agentRef]
  if (strategy === undefined) throw new Error(`no strategy for ${agentRef}`)
  return strategy({ brief, session, overdue })
}

export const briefOf = (
  { cast, context, hints = {}, kickoff, people = [], seed = "s" }: Play,
  self: string,
  agentRef: string
): Brief => ({
  self,
  agentRef,
  role: "role",
  framework: "custom",
  participants: cast.map(([participant]) => participant),
  people,
  context,
  hints,
  seed,
  versions: { mode: "1.0.0", configuration: "config.default", policy: "policy.p" },
  opening: self === cast.at(-1)?.[0] ? { start: { intent: "try" }, kickoff } : undefined
})

/** What was said, as `sender Type`. */
export const linesOf = ({ session }: Rehearsed): ReadonlyArray<string> =>
  session.map(({ messageType, sender }) => `${sender} ${messageType}`)
