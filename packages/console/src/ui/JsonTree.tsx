import { wholeStart } from "@runplane/domain"
import { ChevronDown, ChevronRight } from "lucide-react"
import { useState } from "react"
import { counted } from "../view/Format.ts"
import { UserText } from "./basics.tsx"

/** Members of a list or an object that are drawn at once, and characters of a text. */
const MEMBERS_AT_ONCE = 60
const LETTERS_AT_ONCE = 600
/** Levels that are open at the beginning. */
const OPEN_LEVELS = 2

interface TreeProps {
  readonly value: unknown
  readonly name?: string
  readonly level?: number
}

/** A JSON value as a tree: large lists, deep objects and long texts are opened step by step. */
export const JsonTree = ({ level = 0, name, value }: TreeProps) => {
  const [isOpen, setOpen] = useState(level < OPEN_LEVELS)
  const [shown, setShown] = useState(MEMBERS_AT_ONCE)
  if (typeof value !== "object" || value === null) return <Leaf name={name} value={value} />
  const entries: ReadonlyArray<readonly [string, unknown]> = Object.entries(value)
  const isList = Array.isArray(value)
  if (entries.length === 0) return <Leaf name={name} value={isList ? "[]" : "{}"} isPlain />
  const Icon = isOpen ? ChevronDown : ChevronRight
  return (
    <div className="font-mono text-[12px] leading-[1.6]">
      {name === undefined && level === 0 ? null : (
        <button
          type="button"
          aria-expanded={isOpen}
          className="-ml-4 inline-flex items-center gap-0.5 text-left hover:text-accent"
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
          {entries.slice(0, shown).map(([key, member]) => (
            <JsonTree key={key} name={key} value={member} level={level + 1} />
          ))}
          {entries.length > shown ? (
            <button type="button" className="text-accent underline" onClick={() => setShown(shown * 4)}>
              {counted(entries.length - shown, "more item")}
            </button>
          ) : null}
        </div>
      ) : null}
    </div>
  )
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
