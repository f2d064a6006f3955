import { createContext, Script } from "node:vm"
import { Ajv, type AnySchema, type ErrorObject, type Options, type ValidateFunction } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject } from "../common/Json.ts"
import { compilePattern } from "./LinearPattern.ts"
import { replaceUniqueItems } from "./UniqueItems.ts"

const sandbox = { run: () => {} }
const context = createContext(sandbox)
const script = new Script("run()")

/**
 * Runs a pure function and ends it in the middle when it takes longer than the limit, ms of real time. The engine of
 * JavaScript does this to a regular expression, too; a timer could not, because the function holds the only thread.
 * Fails with undefined at the limit; what the function was changing then is in any state.
 */
const withinMs = <A>(limitMs: number, run: () => A): Result.Result<A, undefined> => {
  let result: Result.Result<A, undefined> = Result.fail(undefined)
  sandbox.run = () => {
    result = Result.succeed(run())
  }
  try {
    script.runInContext(context, { timeout: limitMs })
  } catch (cause) {
    if (!(Predicate.hasProperty(cause, "code") && cause.code === "ERR_SCRIPT_EXECUTION_TIMEOUT")) throw cause
  }
  return result
}

/** Compiled input schemas kept for reuse. */
const MAX_CACHED_VALIDATORS = 256

/** Errors of one validation that are reported; inputs of a megabyte may break a rule half a million times. */
export const MAX_REPORTED_ERRORS = 1_000

/**
 * Time for one validation, ms. It blocks the thread of both services; inputs of a megabyte take a tenth of this with
 * most schemas (docs/internals/launch.md#inputs).
 */
export const VALIDATION_LIMIT_MS = 500

/** `keyword` of the error of a validation that reached the limit. */
export const TIME_LIMIT = "timeLimit"

/** Answers the validator's error list, from its beginning; empty means valid. */
export type InputValidator = (inputs: JsonObject) => ReadonlyArray<JsonObject>

export type CompileInputSchema = (schema: JsonObject) => Result.Result<InputValidator, string>

/** `compileInputSchema` where equal schemas share one compilation, for a catalog that is read again and again. */
export const cachedInputSchemaCompiler = (): CompileInputSchema => {
  // Not Effect's Cache: pack files are judged by pure functions, which cannot wait for one.
  const compiled = new Map<string, Result.Result<InputValidator, string>>()
  return (schema) => {
    const text = JSON.stringify(schema)
    const current = compiled.get(text)
    if (current !== undefined) return current
    const oldest = compiled.keys().next()
    if (compiled.size >= MAX_CACHED_VALIDATORS && !oldest.done) compiled.delete(oldest.value)
    const result = compileInputSchema(schema)
    compiled.set(text, result)
    return result
  }
}

/** Every top-level `properties.*.default` of the schema; nested defaults are not collected. */
export const schemaDefaults = (schema: JsonObject): JsonObject => {
  const properties = schema["properties"]
  if (!isJsonObject(properties)) return {}
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) =>
      isJsonObject(property) && property["default"] !== undefined ? [[name, property["default"]]] : []
    )
  )
}

/**
 * The validator's own defaults where they only log: a schema may, say, require a key in one of several alternatives.
 */
const options: Options = {
  allErrors: true,
  strictSchema: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  logger: false,
  // `code` is for validators that are written to a file.
  code: { regExp: Object.assign((pattern: string) => compilePattern(pattern), { code: "" }) }
}

/**
 * Compiles an input schema: draft-07 unless `$schema` names 2020-12, strict, all errors, no coercion, all formats.
 * Every schema gets a validator of its own, so two schemas may carry the same `$id`. Fails with the
 * fault of the schema. A validation that takes longer than the limit is one error.
 */
export const compileInputSchema: CompileInputSchema = (schema) =>
  Result.map(compile(schema), (first) => {
    let validate = first
    return (inputs: JsonObject) => {
      const checked = withinMs(VALIDATION_LIMIT_MS, () => validate(inputs))
      if (Result.isSuccess(checked)) return checked.success ? [] : reported(validate.errors ?? [])
      // It was ended in the middle of something.
      validate = Result.getOrElse(compile(schema), () => first)
      return [overTime]
    }
  })

const compile = (schema: JsonObject): Result.Result<ValidateFunction, string> =>
  Result.try({
    try: () => {
      // Such a validator answers with a promise, which would pass for "valid".
      if (schema["$async"] !== undefined) throw new Error("an asynchronous schema cannot check inputs")
      const ajv = isDraft2020(schema) ? new Ajv2020(options) : new Ajv(options)
      replaceUniqueItems(ajv)
      addFormats.default(ajv)
      const validate: ValidateFunction = ajv.compile(schema satisfies AnySchema)
      return validate
    },
    catch: (cause) => (cause instanceof Error ? cause.message : String(cause))
  })

const isDraft2020 = (schema: JsonObject) =>
  typeof schema["$schema"] === "string" && schema["$schema"].startsWith("https://json-schema.org/draft/2020-12/schema")

const overTime: JsonObject = {
  instancePath: "",
  schemaPath: "#",
  keyword: TIME_LIMIT,
  params: { limitMs: VALIDATION_LIMIT_MS },
  message: `must be checked within ${VALIDATION_LIMIT_MS} ms: the schema takes too long over these inputs`
}

const reported = (errors: ReadonlyArray<ErrorObject>) => errors.slice(0, MAX_REPORTED_ERRORS).map(errorJson)

const errorJson = (error: ErrorObject): JsonObject => ({
  instancePath: error.instancePath,
  schemaPath: error.schemaPath,
  keyword: error.keyword,
  params: error.params,
  message: error.message ?? ""
})
