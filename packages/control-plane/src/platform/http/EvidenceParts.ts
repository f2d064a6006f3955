import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import type * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"

/** The file of a feature in the evidence of a run (docs/reference/evidence.md). */
export interface EvidencePart {
  /** The name of the file, which has one JSON text a line. */
  readonly file: string
  /** The lines of a run in an order that does not change, in pages. */
  readonly lines: (runId: RunId) => Stream.Stream<ReadonlyArray<string>, SqlError>
}

/** The files of all features. */
export class EvidenceParts extends Context.Service<EvidenceParts, ReadonlyArray<EvidencePart>>()(
  "runplane/control-plane/EvidenceParts"
) {}
