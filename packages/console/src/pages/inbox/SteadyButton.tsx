import type { ReactNode } from "react"

/** A button that does nothing while what it stands on moves; it keeps the focus meanwhile. */
export const SteadyButton = ({
  children,
  className,
  isBusy = false,
  isSteady,
  onPress
}: {
  readonly children: ReactNode
  readonly className: string
  readonly isSteady: boolean
  readonly isBusy?: boolean
  readonly onPress: () => void
}) => {
  const isOff = !isSteady || isBusy
  return (
    <button
      type="button"
      aria-disabled={isOff}
      className={`btn h-12 justify-center text-[15px] ${isOff ? "btn-off" : className}`}
      onClick={isOff ? undefined : onPress}
    >
      {children}
    </button>
  )
}
