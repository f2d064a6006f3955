import { useCallback, useEffect, useRef, useState } from "react"
import { followsAfter } from "../view/lists/Follow.ts"

interface FollowOptions {
  /** Rows of the list. */
  readonly count: number
  /** Whether rows are added: the list follows them until it is scrolled back. */
  readonly isLive: boolean
  /** Whether it begins at its end. */
  readonly begins: boolean
}

/** Keeps a list at its newest row while it follows, and counts the rows that arrived since it was scrolled back. */
export const useFollow = ({ begins, count, isLive }: FollowOptions) => {
  const [scroller, setScroller] = useState<HTMLElement | null>(null)
  const [content, setContent] = useState<HTMLElement | null>(null)
  const [isFollowing, setFollowing] = useState(begins)
  const [seen, setSeen] = useState(count)
  const top = useRef(0)
  const toEnd = useCallback(() => {
    setFollowing(true)
    scroller?.scrollTo({ top: scroller.scrollHeight, behavior: "instant" })
  }, [scroller])

  useEffect(() => {
    if (scroller === null) return
    const scrolled = () => {
      const { clientHeight: viewHeight, scrollHeight: height, scrollTop } = scroller
      const before = top.current
      top.current = scrollTop
      setFollowing((followed) => followsAfter(followed, before, { top: scrollTop, viewHeight, height }))
    }
    scroller.addEventListener("scroll", scrolled, { passive: true })
    return () => scroller.removeEventListener("scroll", scrolled)
  }, [scroller])
  useEffect(() => {
    if (scroller === null || content === null || !isFollowing) return
    const sizes = new ResizeObserver(() => {
      scroller.scrollTop = scroller.scrollHeight
    })
    sizes.observe(content)
    return () => sizes.disconnect()
  }, [scroller, content, isFollowing])
  // Back at the newest event, a live list follows again.
  const wasLive = useRef(isLive)
  useEffect(() => {
    if (isLive && !wasLive.current) setFollowing(true)
    wasLive.current = isLive
  }, [isLive])
  const isCounted = isLive && !isFollowing
  useEffect(() => {
    if (!isCounted) setSeen(count)
  }, [isCounted, count])
  return { setScroller, setContent, scroller, added: isCounted ? Math.max(0, count - seen) : 0, toEnd }
}
