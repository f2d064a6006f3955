import type { QueryResource } from "@runplane/api"
import { parseQuery } from "@runplane/domain"
import * as Result from "effect/Result"
import { CircleAlert, Search } from "lucide-react"
import { type KeyboardEvent, type RefObject, useEffect, useId, useMemo, useRef, useState } from "react"
import { withMarkNames } from "../../view/marks/MarkColumns.ts"
import { type Suggestion, suggestionsAt } from "../../view/query/QueryCompletion.ts"
import { useRead } from "../useRead.ts"

interface QueryBarProps {
  readonly resource: QueryResource
  readonly label: string
  readonly placeholder: string
  /** The applied search. */
  readonly value: string
  readonly onChange: (q: string) => void
  /** Receives whether the typed text is valid, when that changes. */
  readonly onValid?: (isValid: boolean) => void
  readonly inputRef?: RefObject<HTMLInputElement | null>
}

/**
 * A search in the query language (docs/reference/search.md#query): completes names and values, shows errors while it is
 * typed, and applies a valid query on Enter or when the field loses the focus.
 */
export const QueryBar = ({ inputRef, label, onChange, onValid, placeholder, resource, value }: QueryBarProps) => {
  const [text, setText] = useState(value)
  const [caret, setCaret] = useState(0)
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState(-1)
  const own = useRef<HTMLInputElement>(null)
  const input = inputRef ?? own
  const listId = useId()
  useEffect(() => setText(value), [value])
  const { data } = useRead(["query fields", resource], (api) => api.query.fields({ query: { resource } }))
  const fields = useMemo(() => data?.fields ?? [], [data])
  const definitions = useRead(["mark definitions"], (api) => api.marks.definitions(), {
    enabled: fields.some(({ name }) => name === "mark")
  })
  const named = useMemo(() => withMarkNames(fields, definitions.data ?? []), [fields, definitions.data])
  const { from, options, to } = useMemo(() => suggestionsAt(text, caret, named), [text, caret, named])
  const fault = useMemo(() => {
    if (fields.length === 0 || text.trim() === "") return undefined
    const read = parseQuery(text, fields)
    return Result.isFailure(read) ? read.failure.message : undefined
  }, [text, fields])
  const isValid = fault === undefined
  useEffect(() => onValid?.(isValid), [onValid, isValid])
  const shown = isOpen ? options : []

  const apply = (next: string) => {
    const isReadable = next.trim() === "" || fields.length === 0 || Result.isSuccess(parseQuery(next, fields))
    if (isReadable && next.trim() !== value) onChange(next.trim())
    return isReadable
  }
  const take = (suggestion: Suggestion) => {
    const isName = suggestion.insert.endsWith(":") || suggestion.insert.endsWith(".")
    const next = `${text.slice(0, from)}${suggestion.insert}${isName ? "" : " "}${text.slice(to).trimStart()}`
    const at = from + suggestion.insert.length + (isName ? 0 : 1)
    setText(next)
    setCaret(at)
    setChosen(-1)
    requestAnimationFrame(() => input.current?.setSelectionRange(at, at))
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (options.length === 0) return
      event.preventDefault()
      setOpen(true)
      const step = event.key === "ArrowDown" ? 1 : -1
      setChosen((before) => (before + step + options.length + (before < 0 && step < 0 ? 1 : 0)) % options.length)
      return
    }
    const suggestion = shown[chosen]
    if ((event.key === "Enter" || event.key === "Tab") && suggestion !== undefined) {
      event.preventDefault()
      take(suggestion)
      return
    }
    if (event.key === "Enter") {
      if (apply(text)) setOpen(false)
      return
    }
    if (event.key !== "Escape") return
    // By itself a search field would be emptied.
    event.preventDefault()
    if (isOpen && shown.length > 0) setOpen(false)
    else event.currentTarget.blur()
  }

  return (
    <div className="relative min-w-[200px] flex-1">
      <Search size={14} aria-hidden className="absolute top-[7px] left-2.5 text-muted" />
      <input
        ref={input}
        type="search"
        role="combobox"
        aria-label={label}
        aria-expanded={shown.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-invalid={fault !== undefined}
        aria-activedescendant={chosen >= 0 && shown.length > 0 ? `${listId}-${chosen}` : undefined}
        spellCheck={false}
        autoComplete="off"
        className={`field w-full pl-8 ${/[:()<>]/.test(text) ? "font-mono text-[12px]" : ""}`}
        placeholder={placeholder}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          setCaret(target.selectionStart ?? target.value.length)
          setChosen(-1)
          setOpen(true)
          if (target.value === "") apply("")
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? 0)}
        onFocus={() => setOpen(true)}
        onBlur={() => {
          setOpen(false)
          apply(text)
        }}
        onKeyDown={onKeyDown}
      />
      <div
        id={listId}
        role="listbox"
        aria-label={`${label}: suggestions`}
        hidden={shown.length === 0}
        className="absolute top-8 left-0 z-30 max-h-[320px] w-[min(460px,90vw)] overflow-auto rounded-lg border border-line bg-raised py-1 shadow-float"
      >
        {fault === undefined || shown.length === 0 ? null : <Fault text={fault} />}
        {shown.map((suggestion, at) => (
          <div
            key={suggestion.label}
            id={`${listId}-${at}`}
            role="option"
            aria-selected={at === chosen}
            className={`flex cursor-pointer items-baseline gap-2 px-3 py-1 ${at === chosen ? "bg-accent-soft" : "hover:bg-sunken"}`}
            onPointerDown={(event) => {
              // The field keeps the focus.
              event.preventDefault()
              take(suggestion)
            }}
          >
            <span className="font-mono text-[12px]">{suggestion.label}</span>
            <span className="truncate text-[12px] text-muted">{suggestion.says}</span>
          </div>
        ))}
      </div>
      {fault === undefined ? null : (
        <div role="status" className={shown.length === 0 ? "mt-1" : "sr-only"}>
          <Fault text={fault} />
        </div>
      )}
    </div>
  )
}

const Fault = ({ text }: { readonly text: string }) => (
  <p className="flex items-start gap-1.5 px-3 py-1 text-[12px] text-bad">
    <CircleAlert size={13} aria-hidden className="mt-0.5 shrink-0" /> {text}
  </p>
)
