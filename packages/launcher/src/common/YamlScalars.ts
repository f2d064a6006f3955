import { EVENT_ID, type Event, getScalarValue, type ScalarEvent } from "js-yaml"
import { eventsOf } from "./LineOfPath.ts"

/** A scalar of YAML text: a value, or the key of a mapping. */
export interface YamlScalar {
  readonly event: ScalarEvent
  readonly value: string
  readonly isKey: boolean
  /** The key of the value, or of the lists that it is in; a key itself for a key. */
  readonly key: string
  /** Keys and indexes from the root. */
  readonly path: () => ReadonlyArray<string>
}

interface Collection {
  readonly type: Event["type"]
  /** Children before the next one: keys and values of a mapping, items of a sequence. */
  children: number
  key: string
}

/** The scalars of YAML text in their order; none when the text is not YAML. */
export function* yamlScalars(text: string): Generator<YamlScalar> {
  const open: Array<Collection> = []
  const path = () =>
    open
      .filter(({ type }) => type !== EVENT_ID.DOCUMENT)
      .map(({ children, key, type }) => (type === EVENT_ID.SEQUENCE ? String(children - 1) : key))
  for (const event of eventsOf(text)) {
    if (event.type === EVENT_ID.POP) {
      open.pop()
      continue
    }
    const parent = open.at(-1)
    if (parent !== undefined) parent.children++
    if (event.type === EVENT_ID.SCALAR) {
      const value = getScalarValue(text, event)
      const isKey = parent?.type === EVENT_ID.MAPPING && parent.children % 2 === 1
      if (isKey) parent.key = value
      const key = open.findLast(({ type }) => type === EVENT_ID.MAPPING)?.key ?? ""
      yield { event, value, isKey, key, path }
    } else if (event.type !== EVENT_ID.ALIAS) {
      open.push({ type: event.type, children: 0, key: "" })
    }
  }
}
