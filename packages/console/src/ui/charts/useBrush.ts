import { type PointerEvent, useState } from "react"

/** Pixels that a pointer moves before it is a drag. */
const DRAG_FROM = 4

interface Brush {
  readonly from: number
  readonly to: number
}

interface BrushOptions {
  /** Pixels at both sides of the element that are not part of the drawing. */
  readonly edge?: number
  /** Two positions of the drawing, 0 to 1 each. */
  readonly onBrush: (from: number, to: number) => void
  /** The pointer was pressed and has not been dragged; where, in pixels of the element. */
  readonly onTap?: (x: number, y: number) => void
}

/** A drag over a drawing selects a stretch. `brush` is the stretch so far, in pixels of the element. */
export const useBrush = ({ edge = 0, onBrush, onTap }: BrushOptions) => {
  const [brush, setBrush] = useState<Brush>()
  const isDrag = brush !== undefined && Math.abs(brush.to - brush.from) >= DRAG_FROM
  const xOf = ({ clientX, currentTarget }: PointerEvent<Element>) =>
    clientX - currentTarget.getBoundingClientRect().left
  return {
    brush: isDrag ? brush : undefined,
    handlers: {
      onPointerDown: (event: PointerEvent<Element>) => {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        setBrush({ from: xOf(event), to: xOf(event) })
      },
      onPointerMove: (event: PointerEvent<Element>) => {
        if (brush !== undefined) setBrush({ ...brush, to: xOf(event) })
      },
      onPointerUp: (event: PointerEvent<Element>) => {
        if (brush === undefined) return
        setBrush(undefined)
        const { left, top, width } = event.currentTarget.getBoundingClientRect()
        const drawn = Math.max(1, width - 2 * edge)
        if (isDrag) onBrush((brush.from - edge) / drawn, (xOf(event) - edge) / drawn)
        else onTap?.(event.clientX - left, event.clientY - top)
      },
      onPointerCancel: () => setBrush(undefined)
    }
  }
}
