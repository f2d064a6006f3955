import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import { failureName } from "../src/errors/Failure.ts"
import type { ErrorAnswer } from "./ErrorAnswer.ts"
import { type Shape, schemaRef } from "./Shape.ts"

/** The failures of one status, which share a response. */
export type FailureGroup = ReadonlyArray<readonly [name: string, answer: ErrorAnswer]>

/** The names of the failures that each operation declares, by its id. */
export const declaredFailures = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyMap<string, ReadonlyArray<string>> => {
  const names = new Map<string, ReadonlyArray<string>>()
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint: { annotations, error } }) => {
      const id = Context.getOrUndefined(annotations, OpenApi.Identifier)
      if (id !== undefined)
        names.set(
          id,
          [...error].flatMap((schema) => failureName(schema) ?? [])
        )
    }
  })
  return names
}

/** Failures by status, ascending; each kept once. */
export const byStatus = (names: ReadonlyArray<string>, answers: Readonly<Record<string, ErrorAnswer>>) => {
  const groups = new Map<number, Array<readonly [string, ErrorAnswer]>>()
  for (const name of new Set(names)) {
    const answer = answers[name]
    if (answer === undefined) throw new Error(`no answer is called ${name}`)
    groups.set(answer.status, [...(groups.get(answer.status) ?? []), [name, answer]])
  }
  return [...groups].sort(([left], [right]) => left - right)
}

/** What the response of a group is called among the components: two operations with the same failures share it. */
export const responseName = (group: FailureGroup): string => group.map(([name]) => name).join("Or")

/** One response for the failures of a status: each code with its reason, and a body that the service would send. */
export const errorResponse = (group: FailureGroup, headers: Shape): Shape => {
  const schemas = [...new Set(group.map(([, { schema }]) => schema))].map(schemaRef)
  const lines = group.map(([, { code, when }]) => `\`${code}\`: ${when}`)
  return {
    description: lines.length === 1 ? lines[0] : `One of:\n\n${lines.map((line) => `- ${line}.`).join("\n")}`,
    headers,
    content: {
      "application/json": {
        schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas },
        examples: Object.fromEntries(
          group.map(([name, { body, code, when }]) => [
            name,
            { summary: `${code}: ${when.replaceAll("`", "")}`, value: body }
          ])
        )
      }
    }
  }
}
