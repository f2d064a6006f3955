import { useCallback, useEffect, useState } from "react"
import { rowsInView } from "../view/lists/Rows.ts"

interface FixedRows {
  readonly count: number
  /** Of each row, CSS pixels. */
  readonly height: number
  /** Rows drawn beyond each edge. */
  readonly overscan?: number
}

/**
 * The visible rows of a long list whose rows have one height. Draws again only when other rows become visible, not for
 * each pixel. The position alone decides which rows these are: on a busy machine React 19.3 has lost the effect that
 * followed a change of the count, and the list stayed empty.
 */
export const useFixedRows = ({ count, height, overscan = 12 }: FixedRows) => {
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null)
  const [view, setView] = useState({ first: 0, last: 40 })
  const update = useCallback(() => {
    if (scroller === null) return
    const next = rowsInView(scroller.scrollTop, scroller.clientHeight, height, Number.MAX_SAFE_INTEGER, overscan)
    setView((before) => (before.first === next.first && before.last === next.last ? before : next))
  }, [scroller, height, overscan])
  useEffect(() => {
    if (scroller === null) return
    update()
    scroller.addEventListener("scroll", update, { passive: true })
    const sizes = new ResizeObserver(update)
    sizes.observe(scroller)
    return () => {
      scroller.removeEventListener("scroll", update)
      sizes.disconnect()
    }
  }, [scroller, update])
  const scrollTo = (index: number) => {
    if (scroller === null) return
    const top = index * height
    if (top < scroller.scrollTop) scroller.scrollTop = top
    else if (top + height > scroller.scrollTop + scroller.clientHeight) {
      scroller.scrollTop = top + height - scroller.clientHeight
    }
    update()
  }
  const last = Math.min(count, view.last)
  const items = Array.from({ length: Math.max(0, last - view.first) }, (_, at) => {
    const index = view.first + at
    return { index, start: index * height }
  })
  return { setScroller, scroller, items, size: count * height, last: last - 1, scrollTo }
}
