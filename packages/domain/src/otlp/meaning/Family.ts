import type { Failure, MeaningKind } from "../Meaning.ts"
import type { Attributes } from "../Span.ts"

/** What a family of names reads of a span or log record. */
export interface Named {
  /** Name of the span, or event name of the log record. */
  readonly name: string
  readonly attributes: Attributes
  readonly resource: Attributes
  /** Whether the span states no parent. */
  readonly isRoot: boolean
}

/** A kind, with the emitter's own name of it. */
export interface Kind {
  readonly kind: MeaningKind
  readonly operation?: string
}

/** The sides of a handoff, as far as they are stated. */
export interface Sides {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/**
 * One family of names: what its instrumentations state in a way of their own. Plain attributes are rows of `ATTRIBUTES`
 * instead. Every reader returns undefined for spans of other families.
 */
export interface Family {
  /** Attributes under the names of the table, of what a span states inside of another value, such as a text of JSON. */
  readonly details?: (span: Named) => Attributes | undefined
  /**
   * Names with the text of messages, arguments and results: `OTLP_CONTENT=drop` removes them. A name that ends in a dot
   * stands for all names with that beginning.
   */
  readonly content?: ReadonlyArray<string>
  readonly kind?: (span: Named) => Kind | undefined
  /** Agent that the span names: for an agent or step, its own; for a call, the caller. */
  readonly agent?: (span: Named, kind: MeaningKind) => string | undefined
  readonly workflow?: (span: Named, kind: MeaningKind) => string | undefined
  /** Sides of a handoff; a tool with sides is a handoff. */
  readonly handoff?: (span: Named, kind: MeaningKind) => Sides | undefined
  /** Agent that a tool calls. */
  readonly delegate?: (span: Named, kind: MeaningKind) => string | undefined
  /** Whether a tool calls an agent that it does not name. */
  readonly hidesDelegate?: (span: Named, kind: MeaningKind) => boolean | undefined
  /** Agent that an agent received the work from. */
  readonly calledBy?: (span: Named, kind: MeaningKind) => string | undefined
  /** Why the span failed, where its emitter says so beside the status. */
  readonly failure?: (span: Named) => Failure | undefined
  readonly toolName?: (span: Named) => string | undefined
  readonly conversation?: (span: Named) => string | undefined
}

/** A table of kinds by what an attribute states. */
export const kindsBy = (table: Readonly<Record<string, MeaningKind>>) => {
  const kinds = new Map(Object.entries(table))
  return (stated: unknown): Kind | undefined => {
    if (typeof stated !== "string") return undefined
    const kind = kinds.get(stated)
    return kind === undefined ? undefined : { kind, operation: stated }
  }
}
