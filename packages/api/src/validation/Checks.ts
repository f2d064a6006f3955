import type * as SchemaAST from "effect/SchemaAST"
export type SingleCheck = SchemaAST.Filter<unknown>

/** The checks of a schema, those in groups one by one. */
export const checksOf = (ast: SchemaAST.AST): ReadonlyArray<SingleCheck> => (ast.checks ?? []).flatMap(single)

const single = (check: SchemaAST.Check<unknown>): ReadonlyArray<SingleCheck> =>
  check._tag === "Filter" ? [check] : check.checks.flatMap(single)

/** What Schema calls a check of its own: `isMaxLength`. */
export const kindOf = (check: SingleCheck) => check.annotations?.representation?.id.slice("effect/schema/".length)

/** The number that a check of Schema compares with, by its name there; NaN where it has none. */
export const boundOf = (check: SingleCheck, name: string): number => {
  const payload: unknown = check.annotations?.representation?.payload
  const bound: unknown = typeof payload === "object" && payload !== null ? Reflect.get(payload, name) : undefined
  return typeof bound === "number" ? bound : Number.NaN
}

/** Whether a text or an array of this length passes; true for a check of something else. */
export const fitsLength = (check: SingleCheck, length: number): boolean => {
  const kind = kindOf(check)
  if (kind === "isMinLength") return length >= boundOf(check, "minLength")
  return kind !== "isMaxLength" || length <= boundOf(check, "maxLength")
}

/** The most items that the checks of an array allow. */
export const maxItems = (ast: SchemaAST.AST): number =>
  Math.min(
    ...checksOf(ast)
      .filter((check) => kindOf(check) === "isMaxLength")
      .map((check) => boundOf(check, "maxLength"))
  )
