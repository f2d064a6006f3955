import { wholeStart } from "@runplane/domain"
import { ChevronDown, ChevronRight } from "lucide-react"
import { useEffect, useRef, useState } from "react"
import { counted } from "../../view/format/Format.ts"
import { memberPointer } from "../../view/format/JsonLines.ts"
import { UserText } from "../basics.tsx"
import { JsonBar, type JsonSearch, useJsonSearch } from "./JsonBar.tsx"

/** Members of a list or an object that are drawn at once, and characters of a text. */
const MEMBERS_AT_ONCE = 60
const LETTERS_AT_ONCE = 600
/** Levels that are open at the beginning. */
const OPEN_LEVELS = 2

/**
 * A JSON value as a tree: large lists, deep objects and long texts are opened step by step. A value with members has
 * controls: search, open and close, copy.
 */
export default function JsonTree({ value }: { readonly value: unknown }) {
  const search = useJsonSearch(value)
  const [levels, setLevels] = useState(OPEN_LEVELS)
  // A new tree forgets what was opened by hand.
  const [tree, setTree] = useState(0)
  const hasMembers = typeof value === "object" && value !== null && Object.keys(value).length > 0
  return (
    <>
      {hasMembers ? (
        <JsonBar
          value={value}
          search={search}
          onOpen={(isOpen) => {
            setLevels(isOpen ? Number.POSITIVE_INFINITY : 1)
            setTree(tree + 1)
          }}
        />
      ) : null}
      <Tree key={tree} value={value} pointer="" level={0} levels={levels} search={search} />
    </>
  )
}

interface TreeProps {
  readonly value: unknown
  readonly name?: string
  readonly pointer: string
  readonly level: number
  /** Levels that are open at the beginning. */
  readonly levels: number
  readonly search: JsonSearch
}

const Tree = ({ level, levels, name, pointer, search, value }: TreeProps) => {
  const [isOpened, setOpen] = useState(level < levels)
  const [shown, setShown] = useState(MEMBERS_AT_ONCE)
  const isCurrent = pointer === search.current
  const row = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isCurrent) row.current?.scrollIntoView({ block: "nearest" })
  }, [isCurrent])
  const isOpen = isOpened || search.open.has(pointer)
  if (typeof value !== "object" || value === null) {
    return (
      <div ref={row} className={isCurrent ? "bg-accent-soft" : ""}>
        <Leaf name={name} value={value} />
      </div>
    )
  }
  const entries: ReadonlyArray<readonly [string, unknown]> = Object.entries(value)
  const isList = Array.isArray(value)
  if (entries.length === 0) return <Leaf name={name} value={isList ? "[]" : "{}"} isPlain />
  // A match beyond the first members shows all members up to it.
  const matched = search.matches.length === 0 ? -1 : entries.findLastIndex(([key]) => hasMatch(search, pointer, key))
  const most = Math.max(shown, matched + 1)
  const Icon = isOpen ? ChevronDown : ChevronRight
  return (
    <div ref={row} className="font-mono text-[12px] leading-[1.6]" data-json>
      {name === undefined && level === 0 ? null : (
        <button
          type="button"
          aria-expanded={isOpen}
          className={`-ml-4 inline-flex min-h-6 min-w-6 items-center gap-0.5 text-left hover:text-accent ${
            isCurrent ? "bg-accent-soft" : ""
          }`}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon size={13} aria-hidden className="shrink-0 text-muted" />
          <span className="text-soft">{name === undefined ? "" : <UserText text={name} />}</span>
          {isOpen ? null : (
            <span className="text-muted">&nbsp;{counted(entries.length, isList ? "item" : "member")}</span>
          )}
        </button>
      )}
      {isOpen ? (
        <div className={level === 0 ? "pl-4" : "ml-1 border-l border-line pl-5"}>
          {entries.slice(0, most).map(([key, member]) => (
            <Tree
              key={key}
              name={key}
              value={member}
              pointer={memberPointer(pointer, key)}
              level={level + 1}
              levels={levels}
              search={search}
            />
          ))}
          {entries.length > most ? (
            <button type="button" className="text-accent underline" onClick={() => setShown(shown * 4)}>
              {counted(entries.length - most, "more item")}
            </button>
          ) : null}
        </div>
      ) : null}
    </div>
  )
}

const hasMatch = ({ matches, open }: JsonSearch, pointer: string, key: string): boolean => {
  const member = memberPointer(pointer, key)
  return open.has(member) || matches.includes(member)
}

interface LeafProps {
  readonly name: string | undefined
  readonly value: unknown
  readonly isPlain?: boolean
}

const Leaf = ({ isPlain = false, name, value }: LeafProps) => {
  const [isWhole, setWhole] = useState(false)
  const isText = typeof value === "string" && !isPlain
  const text = String(value)
  const shown = isWhole || text.length <= LETTERS_AT_ONCE ? text : `${wholeStart(text, LETTERS_AT_ONCE)}…`
  return (
    <div className="font-mono text-[12px] leading-[1.6] wrap-anywhere">
      {name === undefined ? null : (
        <span className="text-muted">
          <UserText text={name} />:{" "}
        </span>
      )}
      <span className={isText ? "text-text" : "text-accent"}>
        <UserText text={shown} className="whitespace-pre-wrap" />
      </span>
      {shown === text ? null : (
        <button type="button" className="ml-2 text-accent underline" onClick={() => setWhole(true)}>
          all {counted(text.length, "character")}
        </button>
      )}
    </div>
  )
}
