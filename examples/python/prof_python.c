/* prof_python.c - a Python extension with a recorder: scopes, functions, threads. docs/guide/python.md explains it.

   Build for the interpreter `python3`, here as the module "prof_python":
       cc -O2 -fPIC -shared -I. $(python3-config --includes) examples/python/prof_python.c -o prof_python.so -pthread
   Run:
       PROF_OUTPUT=trace.json python3 examples/python/example.py

   Any number of extensions may be built like this, each with its copy of prof: one of them records for all.
   -DMODULE=name gives the module another name. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <stdlib.h>
#define PROF_IMPLEMENTATION
#include "prof_chrome.h"

#ifndef MODULE
#define MODULE prof_python
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

/*-- scopes: `with scope("load"):` --*/

static PyObject *ranges; /* from a name to the capsule of its prof_range, which is never freed */

static prof_range *range_of(PyObject *name)
{
    PyObject *capsule = PyDict_GetItemWithError(ranges, name);
    if (capsule) return (prof_range *)PyCapsule_GetPointer(capsule, NULL);
    const char *text = PyErr_Occurred() ? NULL : PyUnicode_AsUTF8(name);
    prof_range *range = text ? prof_range_create(text) : NULL;
    if (!range) return NULL;
    capsule = PyCapsule_New(range, NULL, NULL);
    if (!capsule || PyDict_SetItem(ranges, name, capsule)) {
        prof_range_destroy(range);
        range = NULL;
    }
    Py_XDECREF(capsule);
    return range;
}

typedef struct scope_object {
    PyObject_HEAD
    prof_range *range;
} scope_object;

static PyObject *scope_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *name;
    (void)names;
    if (!PyArg_ParseTuple(args, "U:scope", &name)) return NULL;
    scope_object *self = (scope_object *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->range = range_of(name);
    if (!self->range) {
        Py_DECREF(self);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static PyObject *scope_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    prof_range_start(((scope_object *)self)->range);
    Py_INCREF(self);
    return self;
}

static PyObject *scope_exit(PyObject *self, PyObject *unused)
{
    (void)unused;
    prof_range_stop(((scope_object *)self)->range);
    Py_RETURN_NONE;
}

static PyMethodDef scope_methods[] = {
    {"__enter__", scope_enter, METH_NOARGS, NULL},
    {"__exit__", scope_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject scope_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = TEXT(MODULE) ".scope",
    .tp_doc = "scope(name): a context manager that records how long its block takes",
    .tp_basicsize = sizeof(scope_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = scope_new,
    .tp_methods = scope_methods,
};

/*-- functions: what sys.setprofile() calls, in C. Each code object has a range, and is then never freed. --*/

#define CODES 65536 /* a power of two */
static struct {
    PyCodeObject *code;
    prof_range *range;
} codes[CODES]; /* protected by the interpreter's lock */
static int code_count;
static __thread int depth; /* calls that are open on this thread */

static prof_range *range_of_code(PyCodeObject *code)
{
    size_t at = ((uintptr_t)code >> 4) * 0x9E3779B1u % CODES;
    while (codes[at].code && codes[at].code != code) at = (at + 1) % CODES;
    if (codes[at].code) return codes[at].range;
    if (code_count >= CODES / 2) return NULL;
#if PY_VERSION_HEX >= 0x030B0000
    const char *name = PyUnicode_AsUTF8(code->co_qualname);
#else
    const char *name = PyUnicode_AsUTF8(code->co_name);
#endif
    if (!name) PyErr_Clear();
    codes[at].range = prof_range_create(name ? name : "?");
    Py_INCREF(code);
    codes[at].code = code;
    ++code_count;
    return codes[at].range;
}

static prof_range *range_of_frame(PyFrameObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    prof_range *range = range_of_code(code);
    Py_DECREF(code);
    return range;
}

static int on_event(PyObject *unused, PyFrameObject *frame, int what, PyObject *value)
{
    (void)unused, (void)value;
    if (what == PyTrace_CALL) {
        ++depth;
        prof_range_start(range_of_frame(frame));
    } else if (what == PyTrace_RETURN && depth) { /* at 0 it is of a call from before */
        --depth;
        prof_range_stop(range_of_frame(frame));
    }
    return 0; /* calls of C functions have scopes of their own */
}

static PyObject *functions(PyObject *unused, PyObject *on)
{
    (void)unused;
    int record = PyObject_IsTrue(on);
    if (record < 0) return NULL;
    /* Calls that are open now, this one's caller for example: their returns will not be seen. */
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    for (; depth && frame; --depth) {
        PyFrameObject *back = PyFrame_GetBack(frame);
        prof_range_stop(range_of_frame(frame));
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    depth = 0;
    PyEval_SetProfile(record ? on_event : NULL, NULL);
    Py_RETURN_NONE;
}

/*-- instants, threads and the module --*/

static PyObject *thread_name(PyObject *unused, PyObject *name)
{
    (void)unused;
    const char *text = PyUnicode_AsUTF8(name);
    if (!text) return NULL;
    prof_set_thread_name(text);
    Py_RETURN_NONE;
}

static PyObject *mark(PyObject *unused, PyObject *text)
{
    (void)unused;
    const char *bytes = PyUnicode_AsUTF8(text);
    if (!bytes) return NULL;
    PROFILE_MARK_DYNAMIC(bytes);
    Py_RETURN_NONE;
}

/* Native code uses the macros directly; they do not need the interpreter's lock. */
static PyObject *work(PyObject *unused, PyObject *count)
{
    PROFILE_FUNCTION_C(TEXT(MODULE));
    (void)unused;
    long rounds = PyLong_AsLong(count);
    double sum = 0;
    if (rounds < 0) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "work: the count must not be negative");
    Py_BEGIN_ALLOW_THREADS
    PROFILE_BLOCK("sum") for (long i = 1; i <= rounds; ++i) sum += 1.0 / (double)i;
    Py_END_ALLOW_THREADS
    return PyFloat_FromDouble(sum);
}

static PyObject *start(PyObject *unused, PyObject *args)
{
    prof_config config = {0};
    (void)unused;
    if (!PyArg_ParseTuple(args, "|z:start", &config.output)) return NULL;
    if (prof_start(&config)) return PyErr_Format(PyExc_RuntimeError, "%s", prof_error());
    Py_RETURN_NONE;
}

static PyObject *stop(PyObject *unused, PyObject *no_args)
{
    (void)unused, (void)no_args;
    if (prof_stop()) return PyErr_Format(PyExc_RuntimeError, "%s", prof_error());
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"start", start, METH_VARARGS, "start(output=None): as PROF_OUTPUT=output"},
    {"stop", stop, METH_NOARGS, "stop(): ends the recording and writes the output"},
    {"functions", functions, METH_O, "functions(on): records each call of a Python function on this thread"},
    {"thread_name", thread_name, METH_O, "thread_name(name): of the calling thread"},
    {"mark", mark, METH_O, "mark(text): an instant"},
    {"work", work, METH_O, "work(n): native code with scopes"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, TEXT(MODULE), "prof for Python", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC JOIN(PyInit_, MODULE)(void)
{
    PyObject *made;
    if (PyType_Ready(&scope_type)) return NULL;
    ranges = PyDict_New();
    made = ranges ? PyModule_Create(&module) : NULL;
    Py_INCREF(&scope_type);
    if (made && PyModule_AddObject(made, "scope", (PyObject *)&scope_type)) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}
