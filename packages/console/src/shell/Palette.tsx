import { isUuid } from "@runplane/domain"
import { CornerDownLeft, Search } from "lucide-react"
import { type KeyboardEvent, useId, useState } from "react"
import { useLocation } from "wouter"
import { StatusBadge, UserText } from "../ui/basics.tsx"
import { Overlay } from "../ui/dialogs/Overlay.tsx"
import { activeShortcuts } from "../ui/Keys.ts"
import { useRunSearch } from "../ui/search/useRunSearch.ts"
import { runFacts } from "../view/run/RunFacts.ts"
import type { NavItem } from "./NavItem.ts"

interface Entry {
  readonly id: string
  readonly group: "Pages" | "Runs" | "On this page"
  readonly title: string
  readonly says: string
  readonly status?: Parameters<typeof StatusBadge>[0]["status"]
  readonly run: () => void
}

const MOST_RUNS = 7

interface PaletteProps {
  readonly items: ReadonlyArray<Pick<NavItem, "href" | "path" | "title">>
  readonly onClose: () => void
}

/** A run that no list has, such as one that has left the database for the archive. */
const byId = (id: string, go: (path: string) => void): Entry => ({
  id,
  group: "Runs",
  title: "Open this run",
  says: id.slice(0, 8),
  run: () => go(`/runs/${id}`)
})

/** Finds pages, runs by id, tag, scenario or environment, and actions of the page. */
export default function Palette({ onClose, items }: PaletteProps) {
  const [text, setText] = useState("")
  const [chosen, setChosen] = useState(0)
  const [, go] = useLocation()
  // These are the shortcuts of the page; the dialog adds none.
  const [shortcuts] = useState(activeShortcuts)
  const listId = useId()
  const wanted = text.trim().toLowerCase()
  const found = useRunSearch(text, { limit: MOST_RUNS })
  const fits = (title: string) => title.toLowerCase().includes(wanted)
  const entries: ReadonlyArray<Entry> = [
    ...items
      .filter(({ title }) => fits(title))
      .map(
        ({ href, path, title }): Entry => ({
          id: path,
          group: "Pages",
          title,
          says: "",
          run: () => (href === undefined ? go(path) : window.location.assign(href))
        })
      ),
    ...found.map((run): Entry => {
      const { title } = runFacts(run)
      const says = run.id.slice(0, 8)
      return { id: run.id, group: "Runs", title, says, status: run.status, run: () => go(`/runs/${run.id}`) }
    }),
    ...(isUuid(wanted) && !found.some(({ id }) => id === wanted) ? [byId(wanted, go)] : []),
    ...shortcuts
      .filter(({ group, says }) => group !== "Go" && wanted !== "" && fits(says))
      .map(
        ({ group, keys, run, says }): Entry => ({
          id: `${group} ${keys}`,
          group: "On this page",
          title: says,
          says: keys,
          run
        })
      )
  ]
  const take = (entry: Entry | undefined) => {
    if (entry === undefined) return
    onClose()
    entry.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      event.preventDefault()
      take(entries[chosen])
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return
    event.preventDefault()
    const step = event.key === "ArrowDown" ? 1 : -1
    if (entries.length > 0) setChosen((before) => (before + step + entries.length) % entries.length)
  }
  return (
    <Overlay open onClose={onClose} title="Go to">
      <div className="relative border-b border-line">
        <Search size={15} aria-hidden className="absolute top-3 left-4 text-muted" />
        <input
          autoFocus
          role="combobox"
          aria-label="Page, run or action"
          aria-expanded={entries.length > 0}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={entries[chosen] === undefined ? undefined : `${listId}-${chosen}`}
          className="h-10 w-full bg-transparent pr-3 pl-10 outline-none"
          placeholder="Page, run or action"
          value={text}
          onChange={({ target }) => {
            setText(target.value)
            setChosen(0)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div id={listId} role="listbox" aria-label="Results" className="py-1">
        {entries.map((entry, at) => (
          <div
            key={`${entry.group} ${entry.id}`}
            id={`${listId}-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === chosen}
            className={`flex cursor-pointer items-center gap-2 px-4 py-1.5 ${at === chosen ? "bg-accent-soft" : "hover:bg-sunken"}`}
            onPointerDown={(event) => {
              event.preventDefault()
              take(entry)
            }}
          >
            {entry.status === undefined ? null : <StatusBadge status={entry.status} />}
            <UserText text={entry.title} className="min-w-0 flex-1 truncate" />
            <span className="font-mono text-[11px] text-muted">{entry.says}</span>
            <span className="label w-20 text-right">{entry.group}</span>
            {at === chosen ? (
              <CornerDownLeft size={13} aria-hidden className="text-accent" />
            ) : (
              <span className="w-[13px]" />
            )}
          </div>
        ))}
        {entries.length === 0 ? <p className="px-4 py-3 text-muted">Nothing matches.</p> : null}
      </div>
    </Overlay>
  )
}
