import type { Json } from "effect/Schema"

/** A value of a row, as JSON. */
export type Value = Json

/** Bounds of an answer; bytes are those of its rows as JSON objects. */
export interface AnswerBounds {
  readonly rows: number
  readonly bytes: number
}

export interface Answer {
  readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string }>
  readonly rows: ReadonlyArray<ReadonlyArray<Value>>
  /** The bound that the answer was cut at; undefined when it is whole. */
  readonly cut?: keyof AnswerBounds
}

/** What the process of a query runs: the first line of its standard input, as JSON. */
export interface EngineRequest {
  readonly sql: string
  readonly bounds: AnswerBounds
  /** The package of DuckDB. */
  readonly module: string
  /** Statements that make the views. */
  readonly views: ReadonlyArray<string>
  /** Paths of the files that the views read. */
  readonly files: ReadonlyArray<string>
  /** Temporary folder of the query, and the one in it for rows that do not fit into the memory. */
  readonly folder: string
  readonly spill: string
  /** Bytes of memory for DuckDB, and of temporary files. */
  readonly memory: number
  readonly disk: number
}

/** What becomes of a request: one JSON text on the fourth descriptor of the process. */
export type EngineOutcome =
  | { readonly _tag: "Answer"; readonly answer: Answer }
  /** The message as DuckDB reports it. */
  | { readonly _tag: "Fault"; readonly message: string }
  /** The text is not one statement that reads. */
  | { readonly _tag: "Refused" }
  /** The statement has parameters, which have no values. */
  | { readonly _tag: "Parameters" }
  /** DuckDB cannot be loaded. */
  | { readonly _tag: "Unloadable"; readonly message: string }
  /** The process has used more than its bound, beyond the accounts of DuckDB. */
  | { readonly _tag: "Beyond"; readonly bound: "memory" | "disk" }
