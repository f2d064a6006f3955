import { initials, type RunStatus } from "@runplane/domain"
import {
  Ban,
  Check,
  CheckCircle2,
  CircleDashed,
  CirclePause,
  Copy,
  type LucideIcon,
  PlayCircle,
  Search,
  XCircle
} from "lucide-react"
import type { ReactNode } from "react"
import { dateTime, exactTime, middleCut, relativeTime } from "../view/format/Format.ts"
import { runStatusLabel, type Tone } from "../view/format/Status.ts"
import { timeSetting } from "../view/format/TimeSetting.ts"
import { useCopy, useNow } from "./hooks.ts"

export const toneText: Readonly<Record<Tone, string>> = {
  good: "text-good",
  bad: "text-bad",
  warn: "text-warn",
  accent: "text-accent",
  calm: "text-calm"
}

const toneChip: Readonly<Record<Tone, string>> = {
  good: "bg-good-soft text-good",
  bad: "bg-bad-soft text-bad",
  warn: "bg-warn-soft text-warn",
  accent: "bg-accent-soft text-accent",
  calm: "bg-calm-soft text-calm"
}

const statusIcons: Readonly<Record<RunStatus, LucideIcon>> = {
  queued: CircleDashed,
  starting: CircleDashed,
  binding_session: Search,
  running: PlayCircle,
  suspended: CirclePause,
  completed: CheckCircle2,
  failed: XCircle,
  cancelled: Ban
}

/** The status of a run: icon, word and colour. */
export const StatusBadge = ({ status, chip = false }: { readonly status: RunStatus; readonly chip?: boolean }) => {
  const { tone, word } = runStatusLabel(status)
  const Icon = statusIcons[status]
  const look = chip ? `rounded-full px-2 py-0.5 ${toneChip[tone]}` : toneText[tone]
  return (
    <span className={`inline-flex items-center gap-1.5 font-medium whitespace-nowrap ${look}`} data-status={status}>
      <Icon size={14} aria-hidden className="shrink-0" />
      {word}
    </span>
  )
}

export const Chip = ({
  tone = "calm",
  children,
  title
}: {
  readonly tone?: Tone
  readonly children: ReactNode
  readonly title?: string
}) => (
  <span
    title={title}
    className={`inline-flex max-w-full items-center gap-1 rounded px-1.5 text-[11px] leading-[18px] font-medium ${toneChip[tone]}`}
  >
    {children}
  </span>
)

/** A text as its sender wrote it: never markup, and its direction cannot turn the rest of the line around. */
export const UserText = ({ text, className = "" }: { readonly text: string; readonly className?: string }) => (
  <bdi className={`wrap-anywhere ${className}`}>{text}</bdi>
)

/** A time, relative to now unless the setting says otherwise; the exact instant with its zone on hover. */
export const Time = ({ at, className = "" }: { readonly at: string; readonly className?: string }) => {
  // A new event must not be ahead of the clock.
  const now = useNow(1_000)
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={exactTime(ms)} className={`num whitespace-nowrap ${className}`}>
      {timeSetting.get().isAbsolute ? dateTime(ms) : relativeTime(ms, now)}
    </time>
  )
}

/** An id: monospace, its middle left out, copied by one click. */
export const Id = ({
  id,
  edge = 6,
  label = "id"
}: {
  readonly id: string
  readonly edge?: number
  readonly label?: string
}) => {
  const [isCopied, copy] = useCopy()
  return (
    <button
      type="button"
      title={`${id}\nClick to copy`}
      className="group inline-flex min-h-6 max-w-full items-center gap-1 rounded font-mono text-[12px] text-soft hover:text-text"
      onClick={(event) => {
        event.stopPropagation()
        copy(id)
      }}
    >
      <span className="truncate">{middleCut(id, edge)}</span>
      <span className="sr-only">, copy {label}</span>
      {isCopied ? (
        <Check size={12} aria-hidden className="shrink-0 text-good" />
      ) : (
        <Copy size={12} aria-hidden className="shrink-0 opacity-40 group-hover:opacity-100" />
      )}
      {isCopied ? (
        <span role="alert" className="sr-only">
          copied
        </span>
      ) : null}
    </button>
  )
}

const HUES = 8

/** The colour of a participant by its index in the run: the same in every view. */
export const hue = (index: number): string => `var(--p-${((index % HUES) + HUES) % HUES})`

export const Avatar = ({
  name,
  index,
  size = 24
}: {
  readonly name: string
  readonly index: number
  readonly size?: number
}) => (
  <span
    aria-hidden
    className="inline-flex shrink-0 items-center justify-center rounded-full border text-[10px] font-semibold"
    style={{
      width: size,
      height: size,
      color: hue(index),
      borderColor: `color-mix(in srgb, ${hue(index)} 40%, transparent)`,
      background: `color-mix(in srgb, ${hue(index)} 12%, var(--c-panel))`
    }}
  >
    {initials(name)}
  </span>
)

export const Kbd = ({ keys }: { readonly keys: string }) => (
  <span className="inline-flex gap-1">
    {keys.split(" ").map((key) => (
      <kbd
        key={key}
        className="rounded border border-line-strong bg-sunken px-1.5 font-mono text-[11px] leading-[18px] text-soft"
      >
        {key.replace("mod+", /mac/i.test(navigator.userAgent) ? "⌘" : "Ctrl ")}
      </kbd>
    ))}
  </span>
)
