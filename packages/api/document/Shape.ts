/** A part of an OpenAPI document. */
export type Shape = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Shape =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A value as a part of a document; empty when it is none. */
export const shapeOf = (value: unknown): Shape => (isRecord(value) ? value : {})

/** The part under a key; empty when there is none. */
export const partAt = (shape: Shape, ...path: ReadonlyArray<string>): Shape => {
  let part: unknown = shape
  for (const key of path) part = isRecord(part) ? part[key] : undefined
  return shapeOf(part)
}

export const listAt = (shape: Shape, key: string): ReadonlyArray<unknown> => {
  const list = shape[key]
  return Array.isArray(list) ? list : []
}

export const mapValues = (shape: Shape, change: (value: unknown, key: string) => unknown): Shape =>
  Object.fromEntries(Object.entries(shape).map(([key, value]) => [key, change(value, key)]))

export const without = (shape: Shape, ...keys: ReadonlyArray<string>): Shape =>
  Object.fromEntries(Object.entries(shape).filter(([key]) => !keys.includes(key)))

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` })
