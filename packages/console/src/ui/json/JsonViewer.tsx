import { ChevronDown, ChevronRight } from "lucide-react"
import { useEffect, useMemo, useRef, useState } from "react"
import { whole } from "../../view/format/Format.ts"
import { type JsonLine, jsonLines, valueAt } from "../../view/format/JsonLines.ts"
import { UserText } from "../basics.tsx"
import { RowList, type RowListHandle } from "../RowList.tsx"
import { JsonBar, useJsonSearch } from "./JsonBar.tsx"

interface JsonViewerProps {
  readonly label: string
  readonly value: unknown
  /** Levels that are open at the beginning. */
  readonly openLevels?: number
}

const NONE: ReadonlySet<string> = new Set()
const HEIGHT = 20
/** Characters of a long text that are shown at a time. */
const PAGE = 20_000

/** A JSON value of any size, drawn line by line; its parts are opened and closed. */
export const JsonViewer = ({ label, openLevels = 3, value }: JsonViewerProps) => {
  const list = useRef<RowListHandle>(null)
  const [turned, setTurned] = useState<ReadonlySet<string>>(NONE)
  const [levels, setLevels] = useState(openLevels)
  const search = useJsonSearch(value)
  const [long, setLong] = useState<string>()
  const lines = useMemo(
    () => jsonLines(value, (pointer, depth) => !search.open.has(pointer) && turned.has(pointer) !== depth >= levels),
    [value, turned, levels, search.open]
  )
  useEffect(() => setLong(undefined), [value])
  const { current } = search
  useEffect(() => {
    const at = current === undefined ? -1 : lines.findIndex(({ pointer }) => pointer === current)
    if (at >= 0) list.current?.scrollTo(at, "center")
    // The lines follow the search; a line that is opened by hand does not scroll.
  }, [current])
  const turn = (pointer: string) => {
    const next = new Set(turned)
    if (!next.delete(pointer)) next.add(pointer)
    setTurned(next)
  }
  const text: unknown = long === undefined ? undefined : valueAt(value, long)
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="shrink-0 border-b border-line px-2">
        <JsonBar
          value={value}
          search={search}
          onOpen={(isOpen) => {
            setTurned(NONE)
            setLevels(isOpen ? Number.POSITIVE_INFINITY : 1)
          }}
        />
      </div>
      <RowList
        label={label}
        role="region"
        rows={lines}
        height={HEIGHT}
        overscan={30}
        keyOf={(_, index) => index}
        grid="flex items-center whitespace-pre"
        className="min-h-0 flex-1 font-mono text-[12px]"
        attributes={({ depth, kind, pointer }) => ({
          className: pointer === current && kind !== "close" ? "bg-accent-soft" : "",
          style: { paddingLeft: 8 + depth * 14 }
        })}
        list={list}
      >
        {(line) => <Line line={line} onTurn={() => turn(line.pointer)} onWhole={() => setLong(line.pointer)} />}
      </RowList>
      {typeof text === "string" ? (
        <LongText pointer={long ?? ""} text={text} onClose={() => setLong(undefined)} />
      ) : null}
    </div>
  )
}

const styles: Readonly<Record<JsonLine["kind"], string>> = {
  text: "text-text",
  number: "text-accent",
  word: "text-accent",
  open: "text-muted",
  close: "text-muted",
  closed: "text-muted"
}

interface LineProps {
  readonly line: JsonLine
  readonly onTurn: () => void
  readonly onWhole: () => void
}

const Line = ({ line, onTurn, onWhole }: LineProps) => {
  const { kind, leftOut, name, pointer, text } = line
  const turns = kind === "open" || kind === "closed"
  const Icon = kind === "closed" ? ChevronRight : ChevronDown
  return (
    <>
      {turns ? (
        <button
          type="button"
          aria-expanded={kind === "open"}
          aria-label={`${kind === "open" ? "Close" : "Open"} ${pointer || "all"}`}
          className="-ml-0.5 text-muted hover:text-accent"
          onClick={onTurn}
        >
          <Icon size={13} aria-hidden />
        </button>
      ) : (
        <span className="w-[11px] shrink-0" />
      )}
      {name === undefined ? null : (
        <span className="text-soft">
          <bdi>{name}</bdi>
          {": "}
        </span>
      )}
      <span className={styles[kind]}>
        <bdi>{text}</bdi>
      </span>
      {leftOut === 0 ? null : (
        <button type="button" className="ml-2 text-accent underline" onClick={onWhole}>
          {whole(leftOut)} more characters
        </button>
      )}
    </>
  )
}

interface LongTextProps {
  readonly pointer: string
  readonly text: string
  readonly onClose: () => void
}

/** A long text, page by page: a text of a megabyte at once would stop the browser. */
const LongText = ({ onClose, pointer, text }: LongTextProps) => {
  const [page, setPage] = useState(0)
  useEffect(() => setPage(0), [pointer])
  const pages = Math.max(1, Math.ceil(text.length / PAGE))
  return (
    <section aria-label="Full text" className="flex h-[40%] shrink-0 flex-col border-t border-line bg-panel">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-1">
        <code className="min-w-0 truncate font-mono text-[12px] text-muted">
          <UserText text={pointer} />
        </code>
        <span className="num text-muted">{whole(text.length)} characters</span>
        <span className="ml-auto flex items-center gap-1">
          {pages === 1 ? null : (
            <>
              <button type="button" className="btn" disabled={page === 0} onClick={() => setPage(page - 1)}>
                Previous
              </button>
              <span className="num">
                {page + 1} of {pages}
              </span>
              <button type="button" className="btn" disabled={page + 1 >= pages} onClick={() => setPage(page + 1)}>
                Next
              </button>
            </>
          )}
          <button type="button" className="btn" onClick={onClose}>
            Close
          </button>
        </span>
      </div>
      <pre tabIndex={0} className="min-h-0 flex-1 overflow-auto p-3 font-mono text-[12px] whitespace-pre-wrap">
        <UserText text={text.slice(page * PAGE, (page + 1) * PAGE)} />
      </pre>
    </section>
  )
}
