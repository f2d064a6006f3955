import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { boundOf, checksOf, fitsLength, kindOf, type SingleCheck } from "./Checks.ts"

/** The text for a refused body, query or path: a list of broken rules, or one sentence. */
export type ViolationText = ReadonlyArray<string> | string

const SENTENCE = "runplane/api/sentence"

/** An issue that is reported to the client as this sentence, and nothing else with it. */
export const sentence = (text: string) => new SchemaIssue.InvalidValue({ message: text, [SENTENCE]: true })

/**
 * The text for an issue; undefined when the body was not JSON. Every broken rule is one text,
 * in the order of the fields, with unknown keys first. Needs issues that were made with `reportInput`.
 */
export const violationText = (issue: SchemaIssue.Issue): ViolationText | undefined => {
  const whole = sentenceIn(issue)
  if (whole !== undefined) return whole
  return issue._tag === "InvalidValue" ? undefined : textsOf(issue, ROOT, undefined)
}

const sentenceIn = (issue: SchemaIssue.Issue): string | undefined => {
  if (issue._tag === "InvalidValue" && issue.annotations?.[SENTENCE] === true) return messageOf(issue.annotations)
  if ("issue" in issue) return sentenceIn(issue.issue)
  if (!("issues" in issue)) return undefined
  return issue.issues.map(sentenceIn).find((text) => text !== undefined)
}

/** Where a value is: `session.participants.0.` and `id`. The text of a value inside begins with the path of all. */
interface Path {
  readonly prefix: string
  readonly key: string
}

const ROOT: Path = { prefix: "", key: "" }

const nameOf = ({ key, prefix }: Path) => `${prefix}${key}`

const textsOf = (issue: SchemaIssue.Issue, path: Path, ast: SchemaAST.AST | undefined): ReadonlyArray<string> => {
  switch (issue._tag) {
    case "Encoding":
      return textsOf(issue.issue, path, ast)
    case "Composite":
      return compositeTexts(issue, path)
    case "Pointer": {
      const [key = "", ...rest] = issue.path
      const inner = rest.length === 0 ? issue.issue : new SchemaIssue.Pointer(rest, issue.issue)
      return textsOf(inner, memberPath(path, key, ast), memberOf(ast, key))
    }
    case "Filter":
      return issue.issue._tag === "InvalidValue" && messageOf(issue.issue.annotations) === undefined
        ? [checkText(issue.filter, path, ast)]
        : textsOf(issue.issue, path, ast)
    case "AnyOf":
      // A choice of literals is named by them; HttpApi makes a choice of the one body of an endpoint.
      return issue.issues.length === 0 || hasLiterals(ast ?? issue.ast)
        ? typeTexts(ast ?? issue.ast, SchemaIssue.hasInput(issue) ? issue.input : undefined, path)
        : issue.issues.flatMap((inner) => textsOf(inner, path, ast))
    case "UnexpectedKey":
      return [`${path.prefix}property ${path.key} should not exist`]
    case "InvalidValue": {
      const text = messageOf(issue.annotations)
      return text === undefined ? typeTexts(ast, undefined, path) : [path === ROOT ? text : `${nameOf(path)} ${text}`]
    }
    default:
      return typeTexts(
        ast ?? ("ast" in issue ? issue.ast : undefined),
        SchemaIssue.hasInput(issue) ? issue.input : undefined,
        path
      )
  }
}

const compositeTexts = (issue: SchemaIssue.Composite, path: Path): ReadonlyArray<string> => {
  const { ast } = issue
  const all = (issues: ReadonlyArray<SchemaIssue.Issue>) => issues.flatMap((inner) => textsOf(inner, path, ast))
  if (!SchemaAST.isArrays(ast)) return all(issue.issues)
  // An array of the wrong length is reported as a whole: the answer stays small.
  const length = SchemaIssue.hasInput(issue) && Array.isArray(issue.input) ? issue.input.length : 0
  const outOfRange = checksOf(ast).filter((check) => !fitsLength(check, length))
  if (outOfRange.length > 0) return outOfRange.map((check) => checkText(check, path, ast))
  if (isObject(itemOf(ast))) return all(issue.issues)
  // The same is wrong with each of the values that have another type.
  const type = issue.issues.filter(isTypeIssue).slice(0, 1)
  return [...new Set(all([...type, ...issue.issues.filter((inner) => !isTypeIssue(inner))]))]
}

const isTypeIssue = (issue: SchemaIssue.Issue): boolean =>
  issue._tag === "Pointer" ? isTypeIssue(issue.issue) : issue._tag === "InvalidType"

const memberOf = (ast: SchemaAST.AST | undefined, key: PropertyKey): SchemaAST.AST | undefined => {
  if (ast === undefined) return undefined
  if (SchemaAST.isArrays(ast)) return itemOf(ast)
  return SchemaAST.isObjects(ast) ? ast.propertySignatures.find(({ name }) => name === key)?.type : undefined
}

const memberPath = (path: Path, key: PropertyKey, ast: SchemaAST.AST | undefined): Path => {
  if (ast !== undefined && SchemaAST.isArrays(ast) && !isObject(itemOf(ast))) {
    return { prefix: `${path.prefix}each value in `, key: path.key }
  }
  return { prefix: path === ROOT ? "" : `${nameOf(path)}.`, key: String(key) }
}

const itemOf = (ast: SchemaAST.Arrays) => ast.rest[0]

const isObject = (ast: SchemaAST.AST | undefined): boolean =>
  ast !== undefined &&
  (SchemaAST.isUnion(ast) ? ast.types.every(isObject) : SchemaAST.isObjects(ast) && ast.propertySignatures.length > 0)

/** What is said of a value that has not the type at all: also of a missing one. */
const typeTexts = (ast: SchemaAST.AST | undefined, input: unknown, path: Path): ReadonlyArray<string> => {
  if (ast === undefined) return []
  const own = messageOf(ast.annotations)
  if (own !== undefined) return [own]
  const must = (kind: string) => `${nameOf(path)} must be ${kind}`
  const isAbsent = input === undefined || input === null
  const checks = checksOf(ast)
  switch (ast._tag) {
    case "String": {
      const { emptyFirst, expected } = ast.annotations ?? {}
      const type = must(typeof expected === "string" ? expected : "a string")
      const empty = checks
        .filter((check) => isAbsent && !fitsLength(check, 0))
        .map((check) => checkText(check, path, ast))
      return emptyFirst === true ? [...empty, type] : [type, ...empty]
    }
    case "Number":
    case "Declaration":
      return checks.map((check) => checkText(check, path, ast))
    case "Boolean":
      return [must("a boolean value")]
    case "Literal":
      return [must(valuesText([String(ast.literal)]))]
    case "Union":
      return [isObject(ast) ? objectText(ast, input, path) : must(choiceText(ast))]
    case "Arrays":
      return isObject(itemOf(ast))
        ? [must("an array")]
        : [...typeTexts(itemOf(ast), "", memberPath(path, 0, ast)), must("an array")]
    default:
      return [isAbsent && isObject(ast) ? `${nameOf(path)} should not be null or undefined` : must("an object")]
  }
}

const hasLiterals = (ast: SchemaAST.AST) => ast._tag === "Union" && ast.types.some(SchemaAST.isLiteral)

const valuesText = (values: ReadonlyArray<string>): string => `one of the following values: ${values.join(", ")}`

const literalOf = (ast: SchemaAST.AST) => (SchemaAST.isLiteral(ast) ? [String(ast.literal)] : [])

/** What a choice accepts: its values, else its types. */
const choiceText = (ast: SchemaAST.Union): string => {
  const values = ast.types.flatMap(literalOf)
  if (values.length > 0) return valuesText(values)
  const kinds = [...new Set(ast.types.map(kindText))]
  const last = kinds.pop() ?? ""
  return kinds.length === 0 ? last : `${kinds.join(", ")} or ${last}`
}

const kindText = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "String":
      return "a string"
    case "Number":
      return checksOf(ast).some((check) => kindOf(check) === "isInt") ? "an integer number" : "a number"
    case "Boolean":
      return "a boolean value"
    case "Arrays":
      return "an array"
    case "Null":
      return "null"
    default:
      return "an object"
  }
}

/** What is said of a value that is none of a choice of objects. A member with another value in each names it. */
const objectText = (ast: SchemaAST.Union, input: unknown, path: Path): string => {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return `${nameOf(path)} must be an object`
  const [first, ...others] = ast.types.filter(SchemaAST.isObjects)
  const member = first?.propertySignatures.find(
    ({ name, type }) => SchemaAST.isLiteral(type) && others.every((other) => literalAt(other, name) !== undefined)
  )
  if (first === undefined || member === undefined) return `${nameOf(path)} must be one of its forms`
  const values = [first, ...others].flatMap((one) => literalAt(one, member.name) ?? [])
  return `${nameOf(memberPath(path, member.name, ast))} must be ${valuesText(values)}`
}

const literalAt = (ast: SchemaAST.Objects, name: PropertyKey): string | undefined => {
  const type = ast.propertySignatures.find((member) => member.name === name)?.type
  return type !== undefined && SchemaAST.isLiteral(type) ? String(type.literal) : undefined
}

/** The text of a broken check: its own, or the one of its kind. */
const checkText = (check: SingleCheck, path: Path, ast: SchemaAST.AST | undefined): string => {
  const own = messageOf(check.annotations)
  return own ?? `${nameOf(path)} ${rule(check, ast !== undefined && SchemaAST.isArrays(ast))}`
}

const rule = (check: SingleCheck, isArray: boolean): string => {
  switch (kindOf(check)) {
    case "isMinLength":
      return isArray ? `must contain at least ${boundOf(check, "minLength")} elements` : "should not be empty"
    case "isMaxLength":
      return isArray
        ? `must contain no more than ${boundOf(check, "maxLength")} elements`
        : `must be shorter than or equal to ${boundOf(check, "maxLength")} characters`
    case "isInt":
      return "must be an integer number"
    case "isFinite":
      return "must be a number conforming to the specified constraints"
    case "isGreaterThan":
      return "must be a positive number"
    case "isGreaterThanOrEqualTo":
      return `must not be less than ${boundOf(check, "minimum")}`
    case "isLessThanOrEqualTo":
      return `must not be greater than ${boundOf(check, "maximum")}`
    default:
      return `must be ${String(check.annotations?.expected)}`
  }
}

const messageOf = (annotations: Readonly<Record<string, unknown>> | undefined): string | undefined => {
  const message = annotations?.["message"]
  return typeof message === "string" ? message : undefined
}
