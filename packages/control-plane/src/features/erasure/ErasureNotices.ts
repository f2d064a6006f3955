import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ErasedRuns } from "../../event-log/ErasedRuns.ts"
import { ProcessChannel } from "../../event-log/ProcessChannel.ts"
import { LiveEvents } from "../../event-log/subscribe/LiveEvents.ts"

const SUBJECT = "erased"

/** Notifies the memory and the streams of every process of a run that has lost texts. */
export class ErasureNotices extends Context.Service<
  ErasureNotices,
  { readonly announce: (runId: string) => Effect.Effect<void> }
>()("runplane/control-plane/ErasureNotices") {
  static readonly layer = Layer.effect(
    ErasureNotices,
    Effect.gen(function* () {
      const channel = yield* ProcessChannel
      const erased = yield* ErasedRuns
      const live = yield* LiveEvents
      const announceHere = (runId: string) => {
        erased.announce(runId)
        live.poke(runId)
      }
      yield* channel.listen(SUBJECT, announceHere)
      return ErasureNotices.of({
        announce: (runId) =>
          Effect.andThen(
            Effect.sync(() => announceHere(runId)),
            channel.send(SUBJECT, runId)
          )
      })
    })
  )
}
