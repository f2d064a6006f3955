import { Dialog } from "@base-ui/react/dialog"
import { X } from "lucide-react"
import type { ReactNode } from "react"

export interface OverlayProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: string
  readonly children: ReactNode
  /** `side` slides in from the right, `left` from the left: for panels on narrow screens. */
  readonly form?: "centre" | "side" | "left"
}

const forms: Readonly<Record<NonNullable<OverlayProps["form"]>, string>> = {
  centre: "top-[12vh] left-1/2 max-h-[76vh] w-[min(560px,calc(100vw-24px))] -translate-x-1/2 rounded-xl",
  side: "top-0 right-0 h-dvh w-[min(420px,100vw)] border-l",
  left: "top-0 left-0 h-dvh w-[min(260px,86vw)] border-r"
}

/** A dialog over the page: it holds the focus, Escape closes it. */
const OverlayDialog = ({ children, form = "centre", onClose, open, title }: OverlayProps) => (
  <Dialog.Root open={open} onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
    <Dialog.Portal>
      <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
      <Dialog.Popup className={`fixed z-50 flex flex-col border-line bg-raised text-text shadow-float ${forms[form]}`}>
        <div className="flex items-center justify-between gap-3 border-b border-line px-4 py-3">
          <Dialog.Title className="min-w-0 truncate text-[14px] font-semibold">{title}</Dialog.Title>
          <Dialog.Close aria-label="Close" className="btn btn-quiet -mr-2 px-1.5">
            <X size={16} aria-hidden />
          </Dialog.Close>
        </div>
        <div className="min-h-0 flex-1 overflow-auto">{children}</div>
      </Dialog.Popup>
    </Dialog.Portal>
  </Dialog.Root>
)

export default OverlayDialog
