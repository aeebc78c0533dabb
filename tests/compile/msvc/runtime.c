/* What Microsoft's library has for code of its compiler, and MinGW's lacks. The thread-local variables here are all
   initialised by constants. */
int _fltused = 1;
__declspec(thread) char __tls_guard = 1;
void __dyn_tls_on_demand_init(void);
void __dyn_tls_on_demand_init(void) {}
