import { Bookmark, ChevronFirst, ChevronLast, ChevronLeft, ChevronRight, Link2, Pause, Play, Radio } from "lucide-react"
import { memo, useDeferredValue, useEffect, useMemo, useRef, useState } from "react"
import type { RunLog } from "../../live/RunLog.ts"
import { CopyButton } from "../../ui/CopyButton.tsx"
import { useWidth } from "../../ui/hooks.ts"
import { useShortcuts } from "../../ui/Keys.ts"
import { useMarksHere } from "../../ui/marks/MarksHere.ts"
import { clockTime, whole } from "../../view/format/Format.ts"
import type { KeyEvent } from "../../view/run/KeyEvents.ts"
import { linkTo } from "../../view/run/Permalink.ts"
import type { Phase } from "../../view/run/Phases.ts"
import { densityOf } from "../../view/run/Strip.ts"
import type { RunPageState, SetRunPage } from "./RunParams.ts"

interface ScrubberProps {
  readonly log: RunLog | undefined
  readonly count: number
  readonly page: RunPageState
  readonly set: SetRunPage
  readonly isLive: boolean
}

const SPEEDS = [1, 2, 4, 8, 16] as const
/** Longest pause between two events when a run is played, before the speed divides it. */
const LONGEST_STEP_MS = 1_500
const SHORTEST_STEP_MS = 16

const NO_INDEXES: ReadonlyArray<number> = []

/** The index at which the views show the run: drag, step by event or key event, play, or go back to now. */
export default function Scrubber({ count, isLive, log, page, set }: ScrubberProps) {
  const at = page.at === undefined ? count : Math.min(page.at, count)
  const isNow = page.at === undefined || page.at >= count
  const [speed, setSpeed] = useState<(typeof SPEEDS)[number]>(1)
  const [isPlaying, setPlaying] = useState(false)
  // While a long run is loading, key events and phases follow when there is time.
  const seen = useDeferredValue(count)
  const keyEvents = useMemo(() => log?.digest.keyEvents ?? [], [log, seen])
  const phases = useMemo(() => log?.digest.phases ?? [], [log, seen])
  const marked = useMarksHere()?.placed.indexes ?? NO_INDEXES
  const phase = phases.findLast(({ index }) => index <= at)
  // The address is read again with each step: the strip is drawn again only when its bookmarks differ.
  const bookmarked = page.bookmarks.join()
  const bookmarks = useMemo(
    () =>
      bookmarked
        .split(",")
        .map(Number)
        .filter((index) => index >= 1 && index <= count),
    [bookmarked, count]
  )

  const goTo = (index: number) => set({ at: index >= count ? undefined : Math.max(1, index) })
  const step = (stops: ReadonlyArray<{ readonly index: number }>, by: 1 | -1) => {
    const next = by > 0 ? stops.find(({ index }) => index > at) : stops.findLast(({ index }) => index < at)
    goTo(next?.index ?? (by > 0 ? count : 1))
  }
  const bookmark = () => {
    const others = bookmarks.filter((index) => index !== at)
    const all = others.length < bookmarks.length ? others : [...bookmarks, at]
    set({ bookmarks: all.toSorted((one, other) => one - other).map(String) })
  }
  useShortcuts([
    { keys: "ArrowLeft", says: "One event back", group: "Time", run: () => goTo(at - 1) },
    { keys: "ArrowRight", says: "One event forward", group: "Time", run: () => goTo(at + 1) },
    { keys: "[", says: "Previous key event", group: "Time", run: () => step(keyEvents, -1) },
    { keys: "]", says: "Next key event", group: "Time", run: () => step(keyEvents, 1) },
    { keys: "{", says: "Previous phase", group: "Time", run: () => step(phases, -1) },
    { keys: "}", says: "Next phase", group: "Time", run: () => step(phases, 1) },
    {
      keys: "n",
      says: "Next mark",
      group: "Time",
      run: () =>
        step(
          marked.map((index) => ({ index })),
          1
        )
    },
    {
      keys: "N",
      says: "Previous mark",
      group: "Time",
      run: () =>
        step(
          marked.map((index) => ({ index })),
          -1
        )
    },
    { keys: "b", says: "Add or remove a bookmark", group: "Time", run: bookmark },
    { keys: "p", says: "Play, pause", group: "Time", run: () => setPlaying(!isPlaying) },
    { keys: "l", says: "Back to now", group: "Time", run: () => set({ at: undefined }) }
  ])

  const latest = useRef({ goTo, count })
  latest.current = { goTo, count }
  useEffect(() => {
    if (!isPlaying) return
    const from = at >= count ? 0 : at
    const here = log?.digest.times[from - 1]
    const next = log?.digest.times[from]
    if (next === undefined) {
      setPlaying(false)
      return
    }
    const gap = here === undefined ? 0 : next - here
    const pause = Math.max(SHORTEST_STEP_MS, Math.min(LONGEST_STEP_MS, gap) / speed)
    const timer = setTimeout(() => {
      if (from + 1 >= latest.current.count) setPlaying(false)
      latest.current.goTo(from + 1)
    }, pause)
    return () => clearTimeout(timer)
  }, [isPlaying, at, count, speed, log])

  const time = log?.digest.times[at - 1]
  const label =
    time === undefined ? "before the first event" : `${isNow ? "" : "as of "}event ${whole(at)}, ${clockTime(time)}`
  return (
    <footer className="no-print shrink-0 border-t border-line bg-panel px-3 py-1.5">
      <div
        className={`flex items-center gap-x-1 gap-y-1 max-sm:flex-wrap ${bookmarks.length === 0 ? "" : "flex-wrap"}`}
      >
        <Button label="Previous phase" onClick={() => step(phases, -1)} icon={<ChevronFirst size={15} aria-hidden />} />
        <Button label="Previous event" onClick={() => goTo(at - 1)} icon={<ChevronLeft size={15} aria-hidden />} />
        <Button
          label={isPlaying ? "Pause" : "Play"}
          onClick={() => setPlaying(!isPlaying)}
          icon={isPlaying ? <Pause size={15} aria-hidden /> : <Play size={15} aria-hidden />}
        />
        <Button label="Next event" onClick={() => goTo(at + 1)} icon={<ChevronRight size={15} aria-hidden />} />
        <Button label="Next phase" onClick={() => step(phases, 1)} icon={<ChevronLast size={15} aria-hidden />} />
        <button
          type="button"
          className="btn btn-quiet num px-1.5 text-soft"
          title="Speed of playing"
          onClick={() => setSpeed(SPEEDS[(SPEEDS.indexOf(speed) + 1) % SPEEDS.length] ?? 1)}
        >
          {speed}×
        </button>
        <span
          className={`num min-w-0 truncate max-sm:order-last max-sm:basis-full ${isNow ? "text-muted" : "font-medium text-warn"}`}
        >
          {label}
        </span>
        {phase === undefined ? null : <span className="text-muted max-sm:hidden">· {phase.title}</span>}
        <button
          type="button"
          className="btn btn-quiet px-1 text-soft"
          aria-pressed={bookmarks.includes(at)}
          title="Bookmark this event"
          aria-label="Bookmark this event"
          onClick={bookmark}
        >
          <Bookmark size={15} aria-hidden fill={bookmarks.includes(at) ? "currentColor" : "none"} />
        </button>
        <CopyButton
          icon={Link2}
          title="Copy a link to this view at this event"
          text={() => linkTo(window.location.href, { at })}
        />
        {bookmarks.map((index) => (
          <button
            key={index}
            type="button"
            className="num rounded px-1 text-[12px] text-accent underline"
            aria-label={`Go to the bookmark at event ${index}`}
            onClick={() => goTo(index)}
          >
            {index}
          </button>
        ))}
        <button
          type="button"
          className={`btn ml-auto px-2 ${isNow ? "btn-quiet text-muted" : ""}`}
          aria-pressed={isNow}
          onClick={() => set({ at: undefined })}
        >
          <Radio size={14} aria-hidden /> {isLive ? "Now" : "End"}
        </button>
      </div>
      <div className="relative mt-1 h-8">
        <Strip log={log} count={count} keyEvents={keyEvents} phases={phases} bookmarks={bookmarks} marked={marked} />
        <Position at={at} count={count} />
        <input
          type="range"
          aria-label="Index in the run"
          aria-valuetext={label}
          min={count === 0 ? 0 : 1}
          max={count}
          value={at}
          className="absolute inset-0 h-full w-full cursor-ew-resize opacity-0"
          onChange={({ target }) => goTo(Number(target.value))}
        />
      </div>
    </footer>
  )
}

interface ButtonProps {
  readonly label: string
  readonly onClick: () => void
  readonly icon: React.ReactNode
}

const Button = ({ icon, label, onClick }: ButtonProps) => (
  <button type="button" className="btn btn-quiet px-1 text-soft" title={label} aria-label={label} onClick={onClick}>
    {icon}
  </button>
)

/** Width of a bar of the density, pixels. */
const BAR = 3

interface StripProps {
  readonly log: RunLog | undefined
  readonly count: number
  readonly keyEvents: ReadonlyArray<KeyEvent>
  readonly phases: ReadonlyArray<Phase>
  readonly bookmarks: ReadonlyArray<number>
  /** Indexes of events with marks. */
  readonly marked: ReadonlyArray<number>
}

/** The index that is shown, over the strip, which is not drawn again when it moves. */
const Position = ({ at, count }: { readonly at: number; readonly count: number }) => {
  const share = count <= 1 ? 0 : (at - 1) / (count - 1)
  return (
    <span aria-hidden className="pointer-events-none absolute inset-0" style={{ width: `${100 * share}%` }}>
      <span className="absolute inset-0 bg-accent opacity-10" />
      <span className="absolute inset-x-0 bottom-0 h-0.5 bg-accent" />
      <span className="absolute inset-y-0 right-0 w-0.5 bg-accent" />
    </span>
  )
}

/** The density of events over time along equally spaced events, with key events. */
const Strip = memo(({ bookmarks, count, log, keyEvents, marked, phases }: StripProps) => {
  const canvas = useRef<HTMLCanvasElement>(null)
  const width = useWidth(canvas)
  const bars = Math.max(1, Math.floor(width / BAR))
  const seen = useDeferredValue(count)
  const density = useMemo(() => busyness(log, bars), [log, seen, bars])
  useEffect(() => {
    const element = canvas.current
    const context = element?.getContext("2d")
    if (!element || !context || width === 0) return
    const ratio = window.devicePixelRatio
    const height = element.clientHeight
    element.width = width * ratio
    element.height = height * ratio
    context.scale(ratio, ratio)
    const colours = getComputedStyle(element)
    const read = (name: string) => colours.getPropertyValue(`--c-${name}`)
    const grey = read("line-strong")
    context.fillStyle = grey
    context.clearRect(0, 0, width, height)
    const x = (index: number) => (count <= 1 ? 0 : ((index - 1) / (count - 1)) * (width - 2)) + 1
    const most = density.reduce((most, value) => Math.max(most, value), 1)
    density.forEach((value, bar) => {
      const tall = value === 0 ? 0 : 2 + (value / most) * (height - 14)
      context.fillRect(bar * BAR, height - 4 - tall, BAR - 1, tall)
    })
    for (const { index } of phases) context.fillRect(x(index), 0, 1, height)
    context.fillStyle = read("warn")
    for (const index of bookmarks) {
      context.beginPath()
      context.moveTo(x(index) - 4, height)
      context.lineTo(x(index) + 4, height)
      context.lineTo(x(index), height - 8)
      context.fill()
    }
    // A diamond above the density: marks are never below a dot.
    const columns = new Set(marked.map((index) => Math.round(x(index))))
    for (const column of columns) {
      context.fillStyle = read("panel")
      diamond(context, column, height / 2, 6)
      context.fillStyle = read("accent")
      diamond(context, column, height / 2, 4.5)
    }
    for (const [tone, columns] of dotsOf(keyEvents, x)) {
      context.fillStyle = read(tone === "calm" ? "muted" : tone)
      for (const column of columns) {
        context.beginPath()
        context.arc(column, 5, 2.6, 0, 2 * Math.PI)
        context.fill()
      }
    }
  })
  return <canvas ref={canvas} aria-hidden className="h-full w-full" />
})

const diamond = (context: CanvasRenderingContext2D, x: number, y: number, radius: number) => {
  context.beginPath()
  context.moveTo(x - radius, y)
  context.lineTo(x, y - radius)
  context.lineTo(x + radius, y)
  context.lineTo(x, y + radius)
  context.fill()
}

/** The pixels of the key events of each tone; the calm ones are drawn first, below the others. */
const dotsOf = (keyEvents: ReadonlyArray<KeyEvent>, x: (index: number) => number) => {
  const dots = new Map<KeyEvent["tone"], Set<number>>([["calm", new Set()]])
  for (const { index, tone } of keyEvents) {
    const columns = dots.get(tone) ?? new Set<number>()
    dots.set(tone, columns.add(Math.round(x(index))))
  }
  return dots
}

/**
 * The rate of events at each bar of the strip. Events are equally spaced along the strip, so the time between them
 * differs: high bars are busy moments.
 */
const busyness = (log: RunLog | undefined, bars: number): ReadonlyArray<number> => {
  const times = log?.digest.times ?? []
  const perTime = densityOf(times, bars)
  if (times.length === 0) return perTime
  let start = Number.POSITIVE_INFINITY
  let end = Number.NEGATIVE_INFINITY
  for (const time of times) {
    start = Math.min(start, time)
    end = Math.max(end, time)
  }
  const span = Math.max(1, end - start)
  return Array.from({ length: bars }, (_, bar) => {
    const time = times[Math.min(times.length - 1, Math.floor((bar / bars) * times.length))] ?? start
    return perTime[Math.min(bars - 1, Math.floor(((time - start) / span) * bars))] ?? 0
  })
}
