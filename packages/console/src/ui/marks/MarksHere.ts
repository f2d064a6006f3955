import type { MarkPair } from "@runplane/api"
import type { Mark, MarkDefinition } from "@runplane/domain"
import { createContext, useContext } from "react"
import type { AssignedMarks } from "../../view/marks/Marks.ts"

/** The marks of a run as its views show them. */
export interface ShownMarks {
  readonly runId: string
  readonly marks: ReadonlyArray<Mark>
  /** Of the service; the browser may have fewer. */
  readonly total: number
  readonly placed: AssignedMarks
  /** Whether marks can be neither added nor deleted: the archive alone has the run. */
  readonly isReadOnly: boolean
  readonly definitionOf: (name: string) => MarkDefinition | undefined
  /** The agreement of the judge of a mark with people; undefined for other marks, and without common targets. */
  readonly reliabilityOf: (mark: Mark) => MarkPair | undefined
}

/** The marks of the run around a component; undefined outside of a run, and until they are loaded. */
export const MarksContext = createContext<ShownMarks | undefined>(undefined)
export const useMarksHere = (): ShownMarks | undefined => useContext(MarksContext)
