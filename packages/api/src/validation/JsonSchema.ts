/** The part of JSON Schema (2020-12, as OpenAPI 3.1 uses it) in which rules describe themselves. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
  readonly type?: string | ReadonlyArray<string>
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
}
