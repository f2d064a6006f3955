import * as Result from "effect/Result"
import {
  type Comparison,
  MAX_QUERY_DEPTH,
  MAX_QUERY_LENGTH,
  MAX_QUERY_TERMS,
  type Query,
  type QueryField,
  type QueryFields,
  QueryRefused,
  type QueryValue,
  type Span
} from "./Query.ts"
import { type Token, tokensOf } from "./Tokens.ts"
import { endOfDay, readValue, shown } from "./Values.ts"

type Parsed<A> = Result.Result<A, QueryRefused>

/**
 * Reads a query over declared fields. Unknown input is refused with its position and the valid input there; nothing is
 * silently read as text.
 *
 *     query      = sequence ("OR" sequence)*
 *     sequence   = (["AND"] ["-"] term)*
 *     term       = "(" query ")" | name ":" condition | word | quoted
 *     condition  = value | (">" | ">=" | "<" | "<=") value | [value] ".." [value] | "(" value ("," value)* ")"
 */
export const parseQuery = (text: string, fields: QueryFields): Parsed<Query> => {
  if (text.length > MAX_QUERY_LENGTH) {
    return refused(MAX_QUERY_LENGTH, `the query is longer than ${MAX_QUERY_LENGTH} characters`)
  }
  return Result.flatMap(tokensOf(text), (tokens) => new Parser(tokens, fields).whole())
}

const refused = (position: number, why: string, expected: ReadonlyArray<string> = []): Parsed<never> =>
  Result.fail(new QueryRefused({ why, position, expected }))

const END: Token = { kind: "end", text: "", start: 0, end: 0, isApart: true }

const COMPARISONS: ReadonlyMap<Token["kind"], Comparison> = new Map([
  [">", "gt"],
  [">=", "gte"],
  ["<", "lt"],
  ["<=", "lte"]
])

const ORDERED = new Set(["number", "time", "value"])

/** A resolved name with its position. */
interface Named extends Span {
  readonly field: QueryField
  readonly path: { readonly path?: string }
}

/** A value with its end in the text; `last` is the same value, or the last instant of a day. */
interface ReadValue {
  readonly value: QueryValue
  readonly last: QueryValue
  readonly end: number
}

class Parser {
  readonly #tokens: ReadonlyArray<Token>
  readonly #fields: QueryFields
  #at = 0
  #terms = 0

  constructor(tokens: ReadonlyArray<Token>, fields: QueryFields) {
    this.#tokens = tokens
    this.#fields = fields
  }

  whole(): Parsed<Query> {
    return Result.flatMap(this.#alternatives(0), (query) => {
      const { kind, start, text } = this.#next
      return kind === "end" ? Result.succeed(query) : refused(start, `unexpected ${shown(text)}`, ["a condition"])
    })
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? END
  }

  #take(): Token {
    const token = this.#next
    this.#at += 1
    return token
  }

  #alternatives(depth: number): Parsed<Query> {
    const found: Array<Query> = []
    while (true) {
      const { start } = this.#next
      const part = this.#sequence(depth)
      if (Result.isFailure(part)) return part
      const isEmpty = part.success.kind === "and" && part.success.of.length === 0
      const isOr = this.#next.kind === "or"
      if (isEmpty && (isOr || found.length > 0))
        return refused(start, "OR needs a condition on both sides", ["a condition"])
      found.push(part.success)
      if (!isOr) return Result.succeed(found.length === 1 ? part.success : { kind: "or", of: found })
      this.#take()
    }
  }

  #sequence(depth: number): Parsed<Query> {
    const found: Array<Query> = []
    while (!["end", ")", "or"].includes(this.#next.kind)) {
      if (this.#next.kind === "and") {
        const { start } = this.#take()
        if (found.length === 0 || ["end", ")", "or", "and"].includes(this.#next.kind)) {
          return refused(start, "AND needs a condition on both sides", ["a condition"])
        }
      }
      const term = this.#term(depth)
      if (Result.isFailure(term)) return term
      found.push(term.success)
    }
    const [only] = found
    return Result.succeed(found.length === 1 && only !== undefined ? only : { kind: "and", of: found })
  }

  #term(depth: number): Parsed<Query> {
    if (this.#next.kind === "-") {
      this.#take()
      if (this.#next.isApart || this.#next.kind === "-" || this.#next.kind === "end") {
        return refused(this.#next.start, "a minus needs the excluded condition right after it", ["a condition"])
      }
      return Result.map(this.#positive(depth), (of) => ({ kind: "not", of }))
    }
    return this.#positive(depth)
  }

  #positive(depth: number): Parsed<Query> {
    const token = this.#take()
    const { end, kind, start, text } = token
    if (kind === "(") return this.#group(depth, start)
    if (kind !== "word" && kind !== "quoted")
      return refused(start, `${shown(text)} is not a condition`, ["a condition"])
    if (kind === "word" && this.#next.kind === ":") return this.#onField(token)
    return this.#counted(start, () => Result.succeed({ kind: "search", text, start, end }))
  }

  #group(depth: number, start: number): Parsed<Query> {
    if (depth >= MAX_QUERY_DEPTH) return refused(start, `more than ${MAX_QUERY_DEPTH} nested parentheses`)
    if (this.#next.kind === ")") return refused(this.#next.start, "the parentheses are empty", ["a condition"])
    return Result.flatMap(this.#alternatives(depth + 1), (query) =>
      this.#next.kind === ")" ? this.#closed(query) : refused(this.#next.start, "the parenthesis is not closed", [")"])
    )
  }

  #closed(query: Query): Parsed<Query> {
    this.#take()
    return Result.succeed(query)
  }

  #counted<A>(position: number, read: () => Parsed<A>): Parsed<A> {
    this.#terms += 1
    return this.#terms > MAX_QUERY_TERMS ? refused(position, `more than ${MAX_QUERY_TERMS} conditions`) : read()
  }

  #onField(name: Token): Parsed<Query> {
    this.#take()
    return this.#counted(name.start, (): Parsed<Query> => {
      if (name.text !== "has") return Result.flatMap(this.#named(name), (named) => this.#condition(named))
      const token = this.#take()
      if (token.kind !== "word") return refused(token.start, "has: needs a field", this.#names())
      const any = this.#fields.find(({ hasAny, name }) => hasAny === true && name === token.text)
      if (any !== undefined) return Result.succeed({ kind: "has", field: any.name, start: name.start, end: token.end })
      return Result.map(this.#named(token), ({ field, path }) => ({
        kind: "has",
        field: field.name,
        ...path,
        start: name.start,
        end: token.end
      }))
    })
  }

  #names(): ReadonlyArray<string> {
    return this.#fields.map(({ dotted, name }) => (dotted === true ? `${name}.<name>` : name))
  }

  #named({ end, start, text }: Token): Parsed<Named> {
    const exact = this.#fields.find(({ dotted, name }) => dotted !== true && name === text)
    if (exact !== undefined) return Result.succeed({ field: exact, path: {}, start, end })
    const dot = text.indexOf(".")
    const parent = this.#fields.find(({ dotted, name }) => dotted === true && name === text.slice(0, dot))
    if (dot === -1 || parent === undefined || dot === text.length - 1) {
      return refused(start, `unknown field ${shown(text)}`, this.#names())
    }
    return Result.succeed({ field: parent, path: { path: text.slice(dot + 1) }, start, end })
  }

  #condition(named: Named): Parsed<Query> {
    const { field, path, start } = named
    const head = (end: number) => ({ field: field.name, ...path, start, end })
    const op = COMPARISONS.get(this.#next.kind)
    if (op !== undefined) {
      const sign = this.#take()
      if (!ORDERED.has(field.type)) return this.#unordered(field, sign)
      // A day is after or until its end, from or before its beginning.
      return Result.map(this.#bound(field), ({ end, last, value }) => ({
        kind: "compare",
        op,
        value: op === "gt" || op === "lte" ? last : value,
        ...head(end)
      }))
    }
    if (this.#next.kind === "(") {
      return Result.map(this.#list(field), ({ end, values }): Query => {
        if (values.every(({ last, value }) => last === value)) {
          return { kind: "in", values: values.map(({ value }) => value), ...head(end) }
        }
        return {
          kind: "or",
          of: values.map(({ last, value }) => ({ kind: "range", from: value, to: last, ...head(end) }))
        }
      })
    }
    if (this.#next.kind === "..") return this.#range(named, undefined)
    return Result.flatMap(this.#value(field), (first) =>
      this.#next.kind === ".." && !this.#next.isApart
        ? this.#rangeFrom(named, first)
        : Result.succeed(
            first.last === first.value
              ? { kind: "compare", op: "eq", value: first.value, ...head(first.end) }
              : { kind: "range", from: first.value, to: first.last, ...head(first.end) }
          )
    )
  }

  #unordered({ name, type }: QueryField, sign: Token): Parsed<never> {
    return refused(sign.start, `${name} has no order, it is a ${type}`, ["a value", "a list of values"])
  }

  #rangeFrom(named: Named, { end, value }: ReadValue): Parsed<Query> {
    if (named.field.type === "value" && typeof value !== "number")
      return refused(end, `${shown(String(value))} has no order`, ["a number"])
    return this.#range(named, value)
  }

  #range({ field, path, start }: Named, from: QueryValue | undefined): Parsed<Query> {
    const dots = this.#take()
    if (!ORDERED.has(field.type)) return this.#unordered(field, dots)
    const hasEnd = !this.#next.isApart && (this.#next.kind === "word" || this.#next.kind === "quoted")
    if (from === undefined && !hasEnd) return refused(dots.start, "a range needs at least one end", ["a value"])
    const to: Parsed<{ readonly last: QueryValue | undefined; readonly end: number }> = hasEnd
      ? this.#bound(field)
      : Result.succeed({ last: undefined, end: dots.end })
    return Result.map(to, ({ end, last }) => ({
      kind: "range",
      from,
      to: last,
      field: field.name,
      ...path,
      start,
      end
    }))
  }

  #list(field: QueryField): Parsed<{ readonly values: ReadonlyArray<ReadValue>; readonly end: number }> {
    this.#take()
    const values: Array<ReadValue> = []
    while (true) {
      const read = this.#counted(this.#next.start, () => this.#value(field))
      if (Result.isFailure(read)) return Result.fail(read.failure)
      values.push(read.success)
      const { end, kind, start, text } = this.#take()
      if (kind === ")") return Result.succeed({ values, end })
      if (kind !== ",") return refused(start, `unexpected ${shown(text)} in a list of values`, [",", ")"])
    }
  }

  /** A value with an order: of a field of any values, a number. */
  #bound(field: QueryField): Parsed<ReadValue> {
    return this.#value(field.type === "value" ? { ...field, type: "number" } : field)
  }

  #value(field: QueryField): Parsed<ReadValue> {
    const token = this.#take()
    if (token.kind !== "word" && token.kind !== "quoted") {
      return refused(token.start, `${field.name} needs a value`, field.values ?? [`a ${field.type}`])
    }
    return Result.map(readValue(field, token), (value) => ({
      value,
      last: endOfDay(field, token) ?? value,
      end: token.end
    }))
  }
}
