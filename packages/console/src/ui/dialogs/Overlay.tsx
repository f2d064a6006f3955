import { Suspense } from "react"
import { lazily } from "../lazily.ts"
import type { OverlayProps } from "./OverlayDialog.tsx"

// The dialog is a tenth of the first load, and no page begins with one.
const OverlayDialog = lazily(() => import("./OverlayDialog.tsx"))

/** A dialog over the page, loaded when the first one is opened. */
export const Overlay = (props: OverlayProps) =>
  props.open ? (
    <Suspense fallback={null}>
      <OverlayDialog {...props} />
    </Suspense>
  ) : null
