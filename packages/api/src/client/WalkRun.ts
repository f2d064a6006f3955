import {
  chainVersionOf,
  elementsOf,
  type HistoryProof,
  type MemberSalts,
  type Seal,
  type Verification,
  type Walk
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { ControlPlaneCalls } from "./ControlPlaneCalls.ts"

/** Events of one request: as many of a megabyte each still fit into memory. */
const PAGE = 200

/** Times that a check begins again because texts were erased meanwhile. */
const RETRIES = 3

/** The texts of the next events of a run, and the seq of the next page; undefined after the last one. */
const nextTexts = Effect.fnUntraced(function* (api: ControlPlaneCalls, run: string, afterSeq: number) {
  const query = { afterSeq, limit: PAGE }
  const [answer, response] = yield* api.events.list({
    params: { id: run },
    query,
    responseMode: "decoded-and-response"
  })
  const events = "data" in answer ? answer.data : answer
  const last = events.at(-1)
  // As they came, byte by byte: the chain is over that.
  return last && { texts: [...elementsOf(new Uint8Array(yield* response.arrayBuffer))], lastSeq: last.seq }
})

/** The salts of so many events behind a seq; fewer where the service has no more. */
const nextSalts = Effect.fnUntraced(function* (api: ControlPlaneCalls, id: string, afterSeq: number, count: number) {
  const salts: Array<MemberSalts> = []
  let position = afterSeq
  while (salts.length < count) {
    const query = { afterSeq: position, limit: count - salts.length }
    const { data } = yield* api.seals.salts({ params: { id }, query })
    const last = data.at(-1)
    if (last === undefined) break
    salts.push(...data.map((event) => event.salts))
    position = last.seq
  }
  return salts
})

const erasuresOf = (api: ControlPlaneCalls, id: string) =>
  Effect.map(api.seals.salts({ params: { id }, query: { afterSeq: 0, limit: 1 } }), ({ erasures }) => erasures)

/** A check of the history of a run against a seal. */
export interface RunCheck {
  readonly seal: Seal
  /** Begins the check. */
  readonly walk: (proof: HistoryProof) => Walk<Verification & { readonly ok: true }>
  /** Stops behind so many events: a kept seal does not cover the later ones. */
  readonly most?: number | undefined
}

/**
 * Reads the history of a run from its first event on into a walk, one page at a time. Where texts are erased meanwhile,
 * pages are of two states of the run: then the check begins again.
 */
export const walkRun = Effect.fnUntraced(function* (api: ControlPlaneCalls, check: RunCheck) {
  if (chainVersionOf(check.seal) === 1) return yield* walkOnce(api, check, {})
  const { runId } = check.seal
  let erasures = yield* erasuresOf(api, runId)
  for (let tried = 1; ; tried++) {
    const text = erasures === null ? undefined : new TextEncoder().encode(JSON.stringify(erasures))
    const found = yield* walkOnce(api, check, { erasures: text })
    if (found.ok || tried > RETRIES) return found
    const now = yield* erasuresOf(api, runId)
    if (now?.head.head === erasures?.head.head) return found
    erasures = now
  }
})

const walkOnce = Effect.fnUntraced(function* (
  api: ControlPlaneCalls,
  { most = Number.POSITIVE_INFINITY, seal, walk: begin }: RunCheck,
  proof: HistoryProof
): Effect.fn.Return<Verification, Effect.Error<ReturnType<typeof nextTexts> | ReturnType<typeof nextSalts>>> {
  const { runId } = seal
  const isSalted = chainVersionOf(seal) === 2
  const walk = begin(proof)
  let taken = 0
  let afterSeq = 0
  let page = yield* nextTexts(api, runId, afterSeq)
  while (page !== undefined) {
    const salts = isSalted ? yield* nextSalts(api, runId, afterSeq, page.texts.length) : []
    for (const [at, text] of page.texts.entries()) {
      if (taken === most) return walk.end()
      const mismatch = walk.take(text, salts[at])
      if (mismatch !== undefined) return mismatch
      taken += 1
    }
    afterSeq = page.lastSeq
    page = yield* nextTexts(api, runId, afterSeq)
  }
  return walk.end()
})
